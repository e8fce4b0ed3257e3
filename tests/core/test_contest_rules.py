"""A contest: entrants are written, verified and never merged; a referee makes one of them their task's change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from plait.core.ballot import Ballot, BallotResult, Vote
from plait.core.contest import REFEREE, Contest, expand_contest, find_duplicate_id
from plait.core.decisions import (
    AttemptStarted,
    BatchEnded,
    BatchHalted,
    Decision,
    MergeStarted,
    RequestRefused,
)
from plait.core.graph import build_checked_plan
from plait.core.plan import Plan
from plait.core.reports import MergeFailed
from plait.core.requests import CancelTask, Drop, Feedback, Retry, Submit
from plait.core.scheduler.request_answers import why_not_submit
from plait.core.settings import Backoff, Budget, Isolation, Mode, OnConflict, Settings, Spend
from plait.core.state import State
from plait.core.status import BatchStatus, Category, TaskStatus
from plait.core.task import ModelJob, Need, NeedKind, Phase, Task
from plait.core.views import make_batch_view
from plait.testing.script import BATCH, Script, started_tasks, task_needing

TWO = Contest(("amber", "birch"))


def plan(*tasks: Task | str, contest: Contest = TWO, phases: tuple[Phase, ...] = ()) -> Plan:
    named = [Task(task) if isinstance(task, str) else task for task in tasks]
    checked = build_checked_plan(named, phases=phases)
    assert checked.plan is not None, checked.problems
    return expand_contest(checked.plan, contest)


def contest(
    *tasks: Task | str,
    settings: Settings | None = None,
    contest: Contest = TWO,
    phases: tuple[Phase, ...] = (),
) -> Script:
    script = Script(start=False)
    found = plan(*tasks, contest=contest, phases=phases)
    script.request(lambda name: Submit(name, BATCH, found, settings or Settings(), base="base"))
    return script


def candidates(decisions: list[Decision]) -> list[str]:
    """Of the one attempt that was started with any."""
    (order,) = [each for each in decisions if isinstance(each, AttemptStarted) and each.candidates]
    return [each.task for each in order.candidates]


def test_every_entrant_starts_and_the_task_waits_for_all() -> None:
    script = contest("a")
    assert script.running_tasks() == ["a@amber", "a@birch"]
    assert script.explain("a") == ("a is waiting: waits for its entrants: a@amber, a@birch (0 of 2 have ended)")
    script.exit_attempt("a@birch")
    assert script.explain("a") == "a is waiting: waits for its entrants: a@amber (1 of 2 have ended)"


def test_an_entrant_is_done_without_being_merged() -> None:
    script = contest("a")
    decided = script.exit_attempt("a@amber")
    assert script.status("a@amber") == "done"
    assert not [each for each in decided if isinstance(each, MergeStarted)]
    assert script.batch().merges == []


def test_an_entrant_is_verified_before_it_counts() -> None:
    script = contest("a", settings=Settings(verify="make test", retries=0))
    script.exit_attempt("a@amber")
    assert script.status("a@amber") == "verifying"
    script.exit_attempt("a@amber", Category.TASK)
    assert script.status("a@amber") == "failed"


def test_the_referee_gets_the_passed_entrants_with_their_costs() -> None:
    script = contest("a", settings=Settings(retries=0))
    script.wait(60)
    script.exit_attempt("a@amber", spend=Spend(50_000, 7), diffstat=(1, 10, 2))
    decided = script.exit_attempt("a@birch", Category.TASK)
    (order,) = [each for each in decided if isinstance(each, AttemptStarted)]
    assert order.agent == REFEREE
    (found,) = order.candidates
    assert (found.task, found.agent, found.base, found.tip) == ("a@amber", "amber", "base", "tip-a@amber")
    assert (found.seconds, found.spend, found.diffstat) == (61.0, Spend(50_000, 7), (1, 10, 2))


def test_the_winner_becomes_the_tasks_change_and_is_merged() -> None:
    script = contest("a")
    script.exit_attempt("a@amber")
    script.exit_attempt("a@birch")
    decided = script.exit_attempt("a", winner="a@birch")
    assert [each.tip for each in decided if isinstance(each, MergeStarted)] == ["tip-a"]
    assert [entry.change.task for entry in script.batch().merges] == ["a"]
    view = make_batch_view(script.state, script.batch())
    assert [(task.id, task.entrant, task.winner) for task in view.tasks] == [
        ("a@amber", "a", None),
        ("a@birch", "a", None),
        ("a", None, "a@birch"),
    ]


def test_a_failed_entrant_is_no_failure_of_the_batch() -> None:
    script = contest("a", "b", settings=Settings(retries=0, stop_on_fail=True))
    script.exit_attempt("a@amber", Category.TASK)
    script.exit_attempt("b@amber", Category.TASK)
    for name in ("a@birch", "b@birch", "a", "b"):
        script.exit_attempt(name)
    assert script.batch().ended is BatchStatus.COMPLETED
    assert script.batch().reason == "2 done"
    progress = make_batch_view(script.state, script.batch()).progress
    assert dict(progress.counts)[TaskStatus.DONE] == progress.total == 2


def test_without_a_passed_entrant_the_task_fails_and_names_them() -> None:
    script = contest("a", task_needing("b", "a"), settings=Settings(retries=0))
    script.exit_attempt("a@amber", Category.TASK)
    script.exit_attempt("a@birch", Category.USAGE)
    assert script.status("a") == "failed"
    assert script.task("a").reason == "no entrant passed: a@amber failed; a@birch failed"
    assert script.status("b") == "blocked"
    assert script.task("b@amber").by == "a"
    assert script.batch().ended is BatchStatus.FAILED


def test_a_contest_without_a_winner_halts_a_batch_that_stops_on_failure() -> None:
    script = contest("a", "b", settings=Settings(retries=0, stop_on_fail=True, max_parallel=2))
    script.exit_attempt("a@amber", Category.TASK)
    decided = script.exit_attempt("a@birch", Category.TASK)
    assert [each.by for each in decided if isinstance(each, BatchHalted)] == ["a"]


def test_a_contest_that_has_begun_is_not_halted() -> None:
    script = contest(
        Task("b", run="true", priority=0),
        "a",
        "c",
        settings=Settings(retries=0, stop_on_fail=True, max_parallel=2),
    )
    assert script.running_tasks() == ["b", "a@amber"]
    script.exit_attempt("b", Category.TASK)
    assert script.status("c@amber") == script.status("c") == "skipped"
    assert script.running_tasks() == ["a@amber", "a@birch"]
    script.exit_attempt("a@amber")
    script.exit_attempt("a@birch")
    assert script.running_tasks() == ["a"]


def test_dependents_wait_for_the_task_and_not_for_its_entrants() -> None:
    script = contest("a", task_needing("b", "a"))
    script.exit_attempt("a@amber")
    script.exit_attempt("a@birch")
    assert script.running_tasks() == ["a"]
    script.exit_attempt("a", winner="a@amber")
    assert script.running_tasks() == ["b@amber", "b@birch"]


def test_entrants_of_tasks_that_touch_one_file_run_in_parallel() -> None:
    script = contest(Task("a", touches=("x.py",)), Task("b", touches=("x.py",)), settings=Settings(max_parallel=0))
    assert len(script.running_tasks()) == 4
    script.exit_attempt("a@amber", files=("x.py",))
    for name in ("a@birch", "b@amber", "b@birch"):
        script.exit_attempt(name, files=("x.py",))
    assert script.running_tasks() == ["a"]
    assert "touches x.py, held by a" in script.explain("b")


def test_an_exclusive_group_holds_among_entrants_too() -> None:
    script = contest(Task("a", exclusive="database"))
    assert script.running_tasks() == ["a@amber"]


def test_a_winner_that_fails_verification_is_replaced_by_another_entrant() -> None:
    script = contest("a", settings=Settings(verify="make test"))
    for name in ("a@amber", "a@birch"):
        script.exit_attempt(name)
        script.exit_attempt(name)
    assert script.running_tasks() == ["a"]
    script.exit_attempt("a", winner="a@amber")
    decided = script.exit_attempt("a", Category.TASK)
    assert candidates(decided) == ["a@birch"]
    script.exit_attempt("a", winner="a@birch")
    script.exit_attempt("a", Category.TASK)
    assert script.status("a") == "failed"
    assert "failed verification" in script.task("a").reason


JUDGED = Contest(("amber", "birch", "cedar"), judges=3)
VOTES = (Vote("x", ("a@amber", "a@birch", "a@cedar")), Vote("y", ("a@birch", "a@amber", "a@cedar")))
MISSING = Vote("z", failure="timed out")


def judged_contest(**settings: object) -> Script:
    """All entrants are done, and the referee runs."""
    script = contest("a", settings=replace(Settings(max_parallel=8), **settings), contest=JUDGED)  # type: ignore[arg-type]  # fields of Settings
    for name in ("a@amber", "a@birch", "a@cedar"):
        script.exit_attempt(name)
        if script.task(name).status is None:
            script.exit_attempt(name)
    return script


def find_start(decided: list[Decision]) -> AttemptStarted:
    (order,) = [each for each in decided if isinstance(each, AttemptStarted)]
    return order


def test_judges_take_a_slot_each_and_verification_does_not() -> None:
    script = judged_contest(verify="make test")
    assert script.batch().slots == 3
    script.exit_attempt("a", winner="a@amber")
    assert script.status("a") == "verifying"
    assert script.batch().slots == 1


def test_with_fewer_slots_than_judges_the_contest_takes_all() -> None:
    assert judged_contest(max_parallel=2).batch().slots == 2


def test_votes_are_kept_and_shown() -> None:
    script = judged_contest()
    ballot = Ballot(BallotResult.MAJORITY, (*VOTES, MISSING))
    script.exit_attempt("a", winner="a@amber", ballot=ballot)
    assert script.status("a") == "done"
    assert [task.ballot for task in make_batch_view(script.state, script.batch()).tasks][-1] == ballot


def test_no_judge_is_asked_twice_about_the_same_changes() -> None:
    """Neither after a rate limit, nor when their first choice fails verification, nor after a lost attempt."""
    script = judged_contest(verify="make test", retries=3)
    refused = Ballot(BallotResult.NO_QUORUM, (VOTES[0], MISSING, Vote("y", failure="rate limit")))
    script.exit_attempt("a", Category.RATE_LIMIT, retry_after=5.0, ballot=refused)
    assert find_start(script.wait(6)).votes == VOTES[:1]
    script.exit_attempt("a", winner="a@amber", ballot=Ballot(BallotResult.TIE, (*VOTES, MISSING)))
    after = find_start(script.exit_attempt("a", Category.TASK))
    assert [each.task for each in after.candidates] == ["a@birch", "a@cedar"]
    assert after.votes == VOTES
    script.exit_attempt("a", Category.LOST)
    assert find_start(script.wait(600)).votes == VOTES


def test_judges_are_asked_again_about_a_change_that_they_have_not_seen() -> None:
    script = judged_contest()
    script.exit_attempt("a", Category.USAGE, ballot=Ballot(BallotResult.NO_QUORUM, VOTES))
    script.request(lambda name: Retry(name, BATCH, "a@birch"))
    decided = script.exit_attempt("a@birch", tip="another")
    assert find_start(decided).votes == ()


def test_a_contest_whose_judges_reject_all_fails_and_a_retry_runs_its_entrants_again() -> None:
    script = judged_contest(retries=3)
    rejected = Ballot(BallotResult.ALL_REJECTED, tuple(Vote(name, (), ("a@amber",)) for name in "xyz"))
    script.exit_attempt("a", Category.REJECTED, detail="x: none works", ballot=rejected)
    task = script.task("a")
    assert (script.status("a"), task.category, task.ballot) == ("failed", Category.REJECTED, rejected)
    assert task.reason == "the judges rejected all candidates: x: none works"
    assert script.batch().merges == []
    decided = script.request(lambda name: Retry(name, BATCH, "a"))
    assert started_tasks(decided) == ["a@amber", "a@birch", "a@cedar"]
    assert script.task("a").ballot is None


def test_a_conflict_is_refereed_again_on_the_new_base() -> None:
    script = contest("a", settings=Settings(on_conflict=OnConflict.REPAIR))
    script.exit_attempt("a@amber")
    script.exit_attempt("a@birch")
    script.answers_merges = False
    script.exit_attempt("a", winner="a@amber")
    decided = script.conflict_merge("a", "x.py")
    assert candidates(decided) == ["a@amber", "a@birch"]


def test_tasks_with_a_script_or_a_job_are_not_contested() -> None:
    found = plan(Task("a", run="make"), Task("b", job=ModelJob("out.py")), "c")
    assert [task.id for task in found.tasks] == ["a", "b", "c@amber", "c@birch", "c"]


def test_a_contest_can_run_one_agent_several_times() -> None:
    found = plan("a", contest=Contest(("amber",), 2))
    assert [(task.id, task.agent) for task in found.tasks] == [
        ("a@amber-1", "amber"),
        ("a@amber-2", "amber"),
        ("a", REFEREE),
    ]


def test_agents_that_are_modules_have_short_names_and_different_ones() -> None:
    names = [name for name, _ in Contest(("pack.one:Agent", "pack.two:Agent", "amber")).list_entrants()]
    assert names == ["Agent.1", "Agent.2", "amber"]


def test_a_model_named_by_the_task_is_not_given_to_other_agents() -> None:
    found = plan(Task("a", agent="amber", model="large"))
    assert [(task.id, task.model) for task in found.tasks] == [
        ("a@amber", "large"),
        ("a@birch", None),
        ("a", None),
    ]


def test_a_contest_keeps_needs_order_and_ranks() -> None:
    found = plan("a", task_needing("b", "a"), Task("c", run="true", needs=(Need("b"),)))
    named = [task.id for task in found.tasks]
    assert {named[place]: [named[need] for need in row] for place, row in enumerate(found.needs)} == {
        "a@amber": [],
        "a@birch": [],
        "a": ["a@amber", "a@birch"],
        "b@amber": ["a"],
        "b@birch": ["a"],
        "b": ["a", "b@amber", "b@birch"],
        "c": ["b"],
    }
    assert [found.ranks[named.index(name)] for name in ("a@amber", "a", "b@amber", "b", "c")] == [
        1800.0,
        1200.0,
        1200.0,
        600.0,
        600.0,
    ]


def test_an_entrant_with_the_id_of_a_task_is_found() -> None:
    assert find_duplicate_id(plan("a", "b")) is None
    assert find_duplicate_id(plan("a", Task("a@amber", run="true"))) == "a@amber"


def test_entrants_do_not_count_in_phases() -> None:
    phases = (Phase("1"), Phase("2", after=("1",)))
    script = contest(Task("a", phase="1"), Task("b", phase="2"), phases=phases, settings=Settings(phase_gate=1.0))
    script.exit_attempt("a@amber")
    script.exit_attempt("a@birch")
    assert script.running_tasks() == ["a"]
    assert script.batch().phases["1"].settled == 0
    script.exit_attempt("a")
    assert script.running_tasks() == ["b@amber", "b@birch"]


def test_a_contest_in_a_phase_that_can_not_open_is_blocked_and_not_failed() -> None:
    phases = (Phase("1", total=2), Phase("2", after=("1",)))
    script = contest(
        Task("a", phase="1", run="true"),
        Task("b", phase="2"),
        phases=phases,
        settings=Settings(phase_gate=1.0),
    )
    assert [script.status(name) for name in ("b@amber", "b@birch", "b")] == ["blocked"] * 3


def test_in_a_queue_entrants_are_approved_like_any_task() -> None:
    script = contest("a", settings=Settings(mode=Mode.QUEUE, auto_approve=True))
    for name in ("a@amber", "a@birch", "a"):
        assert script.running_tasks() == [name]
        script.exit_attempt(name)
    assert script.batch().ended is BatchStatus.COMPLETED


def test_entrants_count_against_the_budget_of_the_batch() -> None:
    settings = Settings(budget=Budget(1_000_000), reserve=Spend(600_000))
    script = contest("a", settings=settings)
    assert script.running_tasks() == ["a@amber"]


@pytest.mark.parametrize(("request_", "verb"), [(CancelTask, "cancelled"), (Drop, "skipped")])
def test_entrants_end_with_their_task(request_: type[CancelTask | Drop], verb: str) -> None:
    script = contest("a", "b", settings=Settings(max_parallel=0))
    script.exit_attempt("a@amber")
    script.request(lambda name: request_(name, BATCH, "a"))
    assert script.status("a@amber") == "done"
    script.exit_attempt("a@birch", Category.KILLED)
    assert script.status("a@birch") == script.status("a") == verb
    assert script.running_tasks() == ["b@amber", "b@birch"]


def test_one_entrant_can_be_dropped_and_the_contest_continues() -> None:
    script = contest("a")
    script.request(lambda name: Drop(name, BATCH, "a@amber"))
    script.exit_attempt("a@amber", Category.KILLED)
    decided = script.exit_attempt("a@birch")
    assert candidates(decided) == ["a@birch"]


def test_a_passed_entrant_can_be_dropped_before_the_choice() -> None:
    script = contest("a")
    script.exit_attempt("a@amber")
    script.request(lambda name: Drop(name, BATCH, "a@amber"))
    assert candidates(script.exit_attempt("a@birch")) == ["a@birch"]


def test_retrying_the_task_chooses_again() -> None:
    script = contest("a", settings=Settings(retries=0))
    script.exit_attempt("a@amber")
    script.exit_attempt("a@birch", Category.TASK)
    script.exit_attempt("a", Category.TASK)
    assert script.status("a") == "failed"
    decided = script.request(lambda name: Retry(name, BATCH, "a"))
    assert started_tasks(decided) == ["a"]
    assert candidates(decided) == ["a@amber"]


def test_retrying_a_task_without_a_winner_begins_the_contest_again() -> None:
    script = contest("a", settings=Settings(retries=0))
    script.exit_attempt("a@amber", Category.TASK)
    script.exit_attempt("a@birch", Category.TASK)
    decided = script.request(lambda name: Retry(name, BATCH, "a"))
    assert started_tasks(decided) == ["a@amber", "a@birch"]


def test_retrying_a_cancelled_task_retries_the_entrants_that_ended_with_it() -> None:
    script = contest("a")
    script.exit_attempt("a@amber")
    script.request(lambda name: CancelTask(name, BATCH, "a"))
    script.exit_attempt("a@birch", Category.KILLED)
    assert started_tasks(script.request(lambda name: Retry(name, BATCH, "a"))) == ["a@birch"]


def test_retrying_an_entrant_retries_its_task() -> None:
    script = contest("a", settings=Settings(retries=0))
    script.exit_attempt("a@amber", Category.TASK)
    script.exit_attempt("a@birch", Category.TASK)
    assert started_tasks(script.request(lambda name: Retry(name, BATCH, "a@birch"))) == ["a@birch"]
    decided = script.exit_attempt("a@birch")
    assert candidates(decided) == ["a@birch"]


def test_an_entrant_is_not_retried_when_the_choice_is_made() -> None:
    script = contest("a", settings=Settings(retries=0))
    script.exit_attempt("a@amber", Category.TASK)
    script.exit_attempt("a@birch")
    (refused,) = script.request(lambda name: Retry(name, BATCH, "a@amber"))
    assert isinstance(refused, RequestRefused)
    assert refused.why == "a is being chosen: try again when it has ended"
    script.exit_attempt("a")
    (refused,) = script.request(lambda name: Retry(name, BATCH, "a@amber"))
    assert isinstance(refused, RequestRefused)
    assert refused.why == "the contest for a is over: drop a first"
    script.request(lambda name: Drop(name, BATCH, "a"))
    assert started_tasks(script.request(lambda name: Retry(name, BATCH, "a@amber"))) == ["a@amber"]


def test_a_person_can_give_the_task_to_one_agent_alone() -> None:
    script = contest("a", settings=Settings(retries=0))
    script.exit_attempt("a@amber", Category.TASK)
    script.exit_attempt("a@birch", Category.TASK)
    decided = script.request(lambda name: Retry(name, BATCH, "a", agent="cedar"))
    (order,) = [each for each in decided if isinstance(each, AttemptStarted)]
    assert (order.attempt.task, order.agent, order.candidates) == ("a", "cedar", ())


def test_feedback_goes_to_entrants_and_not_to_the_referee() -> None:
    script = contest("a", settings=Settings(retries=0))
    (refused,) = script.request(lambda name: Feedback(name, BATCH, "a", "shorter, please"))
    assert isinstance(refused, RequestRefused)
    assert refused.why == "a is chosen from its entrants: give feedback to one of them (a@amber, a@birch)"
    script.exit_attempt("a@amber", Category.TASK)
    decided = script.request(lambda name: Feedback(name, BATCH, "a@amber", "shorter, please"))
    assert started_tasks(decided) == ["a@amber"]


def test_an_empty_change_of_a_task_that_may_be_empty_is_no_candidate_and_no_failure() -> None:
    script = contest(Task("a", allow_empty=True))
    script.exit_attempt("a@amber", tip=None)
    decided = script.exit_attempt("a@birch", tip=None)
    assert [each.candidates for each in decided if isinstance(each, AttemptStarted)] == [()]
    script.exit_attempt("a", tip=None)
    assert script.status("a") == "done"


def test_contests_need_worktrees() -> None:
    settings = Settings(isolation=Isolation.IN_PLACE)
    why = why_not_submit(State(), Submit("r", BATCH, plan("a"), settings))
    assert why == "a contest needs worktrees: its entrants can't run in place"


def test_only_the_contested_task_may_need_an_entrant() -> None:
    checked = build_checked_plan(
        [
            Task("a", needs=(Need("a@x", NeedKind.ENTRANT),)),
            Task("a@x", entrant="a"),
            task_needing("b", "a@x"),
        ]
    )
    assert checked.plan is not None
    why = why_not_submit(State(), Submit("r", BATCH, checked.plan, Settings()))
    assert why == "a@x is an entrant of a, and only that task may depend on it, and must"


def test_a_batch_that_was_dropped_to_nothing_is_complete() -> None:
    script = contest("a")
    decided = script.request(lambda name: Drop(name, BATCH, "a"))
    for name in ("a@amber", "a@birch"):
        decided = script.exit_attempt(name, Category.KILLED)
    (ended,) = [each for each in decided if isinstance(each, BatchEnded)]
    assert (ended.status, ended.reason) == (BatchStatus.COMPLETED, "1 skipped")


def test_an_entrant_dropped_during_the_choice_is_not_merged() -> None:
    script = contest("a")
    script.exit_attempt("a@amber")
    script.exit_attempt("a@birch")
    script.request(lambda name: Drop(name, BATCH, "a@birch"))
    decided = script.exit_attempt("a", winner="a@birch")
    assert not [each for each in decided if isinstance(each, MergeStarted)]
    assert candidates(decided) == ["a@amber"]
    assert script.task("a").counted_retries == 0
    script.exit_attempt("a", winner="a@amber")
    assert script.status("a") == "done"


def test_an_entrant_dropped_after_a_failed_merge_is_not_merged_by_a_retry() -> None:
    script = contest("a", settings=Settings(backoff=Backoff(1)))
    script.answers_merges = False
    script.exit_attempt("a@amber")
    script.exit_attempt("a@birch")
    script.exit_attempt("a", winner="a@birch")
    while script.status("a") != "failed":
        script.apply(MergeFailed(BATCH, "a", script.task("a").merging or 0, "the branch is checked out"))
        script.wait(1000)
    script.request(lambda name: Drop(name, BATCH, "a@birch"))
    assert candidates(script.request(lambda name: Retry(name, BATCH, "a"))) == ["a@amber"]


def test_nothing_is_merged_when_all_entrants_were_dropped_during_the_choice() -> None:
    script = contest("a")
    script.exit_attempt("a@amber")
    script.exit_attempt("a@birch")
    for entrant in ("a@amber", "a@birch"):
        script.request(lambda name, entrant=entrant: Drop(name, BATCH, entrant))  # type: ignore[misc]  # its own default
    script.exit_attempt("a", winner="a@birch")
    assert script.task("a").reason == "no entrant passed: a@amber was skipped; a@birch was skipped"


def test_an_agent_chosen_for_the_task_gets_it_again_without_a_contest() -> None:
    script = contest("a", settings=Settings(retries=0))
    script.exit_attempt("a@amber", Category.TASK)
    script.exit_attempt("a@birch", Category.TASK)
    script.request(lambda name: Retry(name, BATCH, "a", agent="cedar"))
    script.exit_attempt("a", Category.TASK)
    decided = script.request(lambda name: Retry(name, BATCH, "a"))
    assert [(each.attempt.task, each.agent) for each in decided if isinstance(each, AttemptStarted)] == [("a", "cedar")]
    script.exit_attempt("a", Category.TASK)
    assert started_tasks(script.request(lambda name: Feedback(name, BATCH, "a", "shorter, please"))) == ["a"]


def test_a_task_can_be_given_back_to_its_referee() -> None:
    script = contest("a", settings=Settings(retries=0))
    script.exit_attempt("a@amber", Category.TASK)
    script.exit_attempt("a@birch", Category.TASK)
    script.request(lambda name: Retry(name, BATCH, "a", agent="cedar"))
    script.exit_attempt("a", Category.TASK)
    decided = script.request(lambda name: Retry(name, BATCH, "a", agent=REFEREE))
    assert started_tasks(decided) == ["a@amber", "a@birch"]


def test_retrying_an_entrant_retries_what_the_lost_contest_halted() -> None:
    script = contest("a", "b", settings=Settings(retries=0, stop_on_fail=True, max_parallel=1))
    script.exit_attempt("a@amber", Category.TASK)
    script.exit_attempt("a@birch", Category.TASK)
    assert script.status("b") == "skipped"
    script.request(lambda name: Retry(name, BATCH, "a@birch"))
    assert script.running_tasks() == ["a@birch"]
    assert (script.status("b"), script.status("b@amber")) == ("waiting", "queued")


def test_a_task_is_not_retried_before_its_entrants_have_ended() -> None:
    """They end with it, and would end after it was taken up: it would go on without them."""
    script = contest("a")
    script.exit_attempt("a@amber")
    script.request(lambda name: CancelTask(name, BATCH, "a"))
    assert script.status("a") == "cancelled"
    (refused,) = script.request(lambda name: Retry(name, BATCH, "a"))
    assert isinstance(refused, RequestRefused)
    assert refused.why == "a@birch of its contest has not ended yet"
    script.exit_attempt("a@birch", Category.KILLED)
    assert started_tasks(script.request(lambda name: Retry(name, BATCH, "a"))) == ["a@birch"]
