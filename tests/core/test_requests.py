"""Requests in every state, and the reasons for refusing them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from plait.core.decisions import (
    AttemptEnding,
    AttemptStarted,
    Decision,
    RebuildStarted,
    RequestGranted,
    RequestRefused,
)
from plait.core.plan import Plan
from plait.core.reports import MergeDone
from plait.core.requests import (
    Approve,
    CancelBatch,
    CancelTask,
    ChangeEngineSettings,
    ChangeSettings,
    Drop,
    Feedback,
    Pause,
    Request,
    Resume,
    Retry,
    Stop,
    Submit,
    Unpause,
)
from plait.core.settings import Budget, EngineSettings, Isolation, Mode, Settings, Spend
from plait.core.status import Category, EndWhy
from plait.core.task import Attempt, Need, Step, Task
from plait.testing.script import BATCH, Script, started_tasks, task_needing

NO_RETRY = Settings(retries=0)


def refusal(decisions: list[Decision]) -> str:
    answers = [decision for decision in decisions if isinstance(decision, RequestGranted | RequestRefused)]
    assert len(answers) == 1
    return answers[0].why if isinstance(answers[0], RequestRefused) else ""


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda name: Pause(name, "zz"), "there is no batch zz"),
        (lambda name: CancelTask(name, BATCH, "zz"), "batch b1 has no task zz"),
        (lambda name: Approve(name, BATCH), "batch b1 needs no approval"),
        (lambda name: Unpause(name, BATCH), "batch b1 is not paused"),
        (lambda name: Resume(name, BATCH), "batch b1 is not paused"),
        (lambda name: Retry(name, BATCH, "a"), "a has not ended"),
        (lambda name: Feedback(name, BATCH, "a", " "), "the feedback is empty"),
        (lambda name: ChangeSettings(name, BATCH, Settings(), ("speed",)), "there is no setting speed"),
        (
            lambda name: ChangeSettings(name, BATCH, Settings(max_parallel=-1), ("max_parallel",)),
            "max_parallel must be 0 (no limit) or more, not -1",
        ),
        (
            lambda name: ChangeSettings(name, BATCH, Settings(isolation=Isolation.IN_PLACE), ("isolation",)),
            "the isolation of a submitted batch can't be changed",
        ),
        (
            lambda name: ChangeEngineSettings(name, EngineSettings(agent_limits=(("x", -2),)), ("agent_limits",)),
            "the limit of agent x must be 0 (no limit) or more, not -2",
        ),
        (lambda name: Submit(name, BATCH, Plan((), (), (), ()), Settings()), "batch b1 already exists"),
        (lambda name: Submit(name, "b2", Plan((), (), (), ()), Settings()), "the plan has no tasks"),
        (
            lambda name: Submit(name, "b2", Plan((Task("x"),), ((0,),), ((),), (1.0,)), Settings()),
            "the plan's needs form a cycle",
        ),
        (
            lambda name: Submit(name, "b2", Plan((Task("x"),), ((7,),), ((),), (1.0,)), Settings()),
            "the plan is inconsistent",
        ),
        (
            lambda name: Submit(
                name,
                "b2",
                Plan((Task("x"),), ((),), ((),), (1.0,)),
                Settings(gate="make", isolation=Isolation.IN_PLACE),
            ),
            "a gate runs on the merged result, and in-place batches merge nothing: use worktrees or drop the gate",
        ),
    ],
)
def test_an_impossible_request_is_refused_with_the_reason(make: Callable[[str], Request], why: str) -> None:
    assert refusal(Script("a").request(make)) == why


def test_a_second_copy_of_a_request_changes_nothing() -> None:
    script = Script("a")
    script.apply(Pause("same", BATCH))
    before = len(script.records)
    assert script.apply(Pause("same", BATCH)) == []
    assert len(script.records) == before


def test_a_cancelled_task_ends_when_its_attempt_has_ended_and_never_becomes_done() -> None:
    script = Script("a", task_needing("b", "a"))
    decisions = script.request(lambda name: CancelTask(name, BATCH, "a"))
    assert AttemptEnding(Attempt(BATCH, "a", Step.WRITE, 1), EndWhy.CANCEL) in decisions
    assert script.explain("a") == "a is running: ending attempt 1: it was cancelled"
    script.exit_attempt("a")  # it finished all the same
    assert script.explain("a") == "a is cancelled: cancelled by request"
    assert script.explain("b") == "b is blocked: needs a, which was cancelled"


def test_a_task_cancelled_during_its_merge_is_removed_from_the_branch() -> None:
    script = Script("a", "b")
    script.answers_merges = False
    script.exit_attempt("a")
    script.request(lambda name: CancelTask(name, BATCH, "a"))
    assert script.status("a") == "merging"
    decisions = script.apply(MergeDone(BATCH, "a", 1, "base+a"))
    assert RebuildStarted(BATCH, 1, ("a",)) in decisions
    assert script.status("a") == "cancelled"


def test_what_to_do_instead_of_resuming_a_batch_that_has_ended() -> None:
    done, failed = Script("a"), Script("a", settings=Settings(retries=0))
    done.exit_attempt("a")
    failed.exit_attempt("a", Category.TASK)
    reasons = [refusal(script.request(lambda name: Resume(name, BATCH))) for script in (done, failed)]
    assert reasons == ["batch b1 has ended (completed)", "batch b1 has ended (failed): retry its tasks instead"]


def test_cancelling_a_batch_ends_everything_that_has_not_ended() -> None:
    script = Script("a", "b", "c", settings=Settings(max_parallel=2))
    script.exit_attempt("a")
    script.request(lambda name: CancelBatch(name, BATCH))
    for name in script.running_tasks():
        script.exit_attempt(name, Category.KILLED)
    assert [script.status(name) for name in "abc"] == ["done", "cancelled", "cancelled"]
    assert script.batch().ended == "cancelled"
    assert refusal(script.request(lambda name: CancelBatch(name, BATCH))) == "batch b1 has ended (cancelled)"


def test_a_stop_keeps_everything_resumable() -> None:
    script = Script("a", "b", settings=Settings(max_parallel=1))
    script.request(lambda name: Stop(name, BATCH))
    script.exit_attempt("a", Category.KILLED)
    assert script.explain("a") == "a is interrupted: stopped by request; resume the batch to continue"
    assert script.status("b") == "waiting"
    assert refusal(script.request(lambda name: Unpause(name, BATCH))) == "batch b1 was stopped: resume it"
    decisions = script.request(lambda name: Resume(name, BATCH))
    write = next(decision for decision in decisions if isinstance(decision, AttemptStarted))
    assert (write.attempt.task, write.attempt.n) == ("a", 2)
    assert script.task("a").counted_retries == 0


def test_a_second_stop_ends_attempts_without_grace() -> None:
    script = Script("a")
    script.request(lambda name: Stop(name, BATCH))
    decisions = script.request(lambda name: Stop(name, BATCH, now=True))
    assert AttemptEnding(Attempt(BATCH, "a", Step.WRITE, 1), EndWhy.STOP, now=True) in decisions


def test_work_that_finished_while_it_was_stopped_is_not_done_again() -> None:
    script = Script("a", settings=Settings(verify="make test"))
    script.request(lambda name: Stop(name, BATCH))
    assert started_tasks(script.exit_attempt("a")) == []
    decisions = script.request(lambda name: Resume(name, BATCH))
    assert [d.attempt.step for d in decisions if isinstance(d, AttemptStarted)] == [Step.VERIFY]


def test_resuming_before_the_stopped_attempt_has_ended_repeats_the_step() -> None:
    script = Script("a")
    script.request(lambda name: Stop(name, BATCH))
    script.request(lambda name: Resume(name, BATCH))
    assert started_tasks(script.exit_attempt("a", Category.KILLED)) == ["a"]
    assert script.task("a").counted_retries == 0


def test_a_retry_includes_the_tasks_that_it_blocked() -> None:
    script = Script("a", task_needing("b", "a"), "x", task_needing("c", "b", "x"), settings=NO_RETRY)
    script.exit_attempt("a", Category.TASK)
    script.exit_attempt("x", Category.TASK)
    assert script.batch().ended == "failed"
    granted = script.request(lambda name: Retry(name, BATCH, "a", agent="codex"))
    assert RequestGranted("r2", ("a", "b")) in granted
    assert next(d.agent for d in granted if isinstance(d, AttemptStarted)) == "codex"
    assert script.status("c") == "blocked"
    assert refusal(script.request(lambda name: Retry(name, BATCH, "c"))) == "c is blocked: retry x instead"
    script.exit_attempt("a")
    script.exit_attempt("b")
    assert script.batch().ended == "failed"


def test_a_retry_includes_the_tasks_that_its_failure_halted() -> None:
    script = Script("a", "b", settings=Settings(max_parallel=1, retries=0, stop_on_fail=True))
    script.exit_attempt("a", Category.TASK)
    assert script.status("b") == "skipped"
    script.request(lambda name: Retry(name, BATCH, "a"))
    script.exit_attempt("a")
    script.exit_attempt("b")
    assert script.batch().ended == "completed"


def test_dropping_a_done_task_removes_it_and_its_dependents() -> None:
    script = Script("a", task_needing("b", "a"), "c")
    for name in ("a", "b", "c"):
        script.exit_attempt(name)
    assert script.batch().ended == "completed"
    assert script.batch().head == "base+a+b+c"
    script.request(lambda name: Drop(name, BATCH, "a"))
    assert [script.status(name) for name in "abc"] == ["skipped", "blocked", "done"]
    assert script.batch().head == "base+c"
    assert script.batch().ended == "failed"


def test_a_dropped_failure_does_not_fail_the_batch() -> None:
    script = Script("a", "b", settings=NO_RETRY)
    script.exit_attempt("a", Category.TASK)
    script.exit_attempt("b")
    assert script.batch().ended == "failed"
    script.request(lambda name: Drop(name, BATCH, "a"))
    assert script.batch().ended == "completed"


def test_a_done_task_can_be_retried_until_others_depend_on_it() -> None:
    script = Script("a", task_needing("b", "a"), settings=Settings(mode=Mode.QUEUE))
    script.request(lambda name: Approve(name, BATCH, "a"))
    script.exit_attempt("a")
    decisions = script.request(lambda name: Feedback(name, BATCH, "a", "shorter, please"))
    assert script.batch().merges == []
    write = next(decision for decision in decisions if isinstance(decision, AttemptStarted))
    assert (write.base, write.feedback) == ("base", "shorter, please")
    script.exit_attempt("a")
    script.request(lambda name: Approve(name, BATCH))
    assert script.running_tasks() == ["b"]
    why = refusal(script.request(lambda name: Retry(name, BATCH, "a")))
    assert why == "a is done, and b depends on it: drop it instead"


def test_only_a_task_that_waits_for_approval_can_be_approved() -> None:
    script = Script("a", "b", settings=Settings(mode=Mode.QUEUE))
    script.request(lambda name: Approve(name, BATCH))
    assert refusal(script.request(lambda name: Approve(name, BATCH))) == ""  # the next one, in advance
    assert refusal(script.request(lambda name: Approve(name, BATCH))) == "no task needs approval now"
    assert refusal(script.request(lambda name: Approve(name, BATCH, "a"))) == "a does not need approval"
    assert started_tasks(script.exit_attempt("a")) == ["b"]


def test_a_changed_setting_leaves_the_others_alone() -> None:
    script = Script("a", settings=Settings(retries=7))
    script.request(lambda name: ChangeSettings(name, BATCH, Settings(max_parallel=9), ("max_parallel",)))
    assert (script.batch().settings.max_parallel, script.batch().settings.retries) == (9, 7)


def test_changed_agents_apply_to_tasks_that_have_not_started() -> None:
    script = Script("a", "b", Task("c", agent="aider"), settings=Settings(max_parallel=1))
    script.request(lambda name: ChangeSettings(name, BATCH, Settings(agents=("codex",)), ("agents",)))
    agents = [d.agent for name in "ab" for d in script.exit_attempt(name) if isinstance(d, AttemptStarted)]
    assert agents == ["codex", "aider"]


def test_an_attempt_that_plait_ended_needlessly_uses_up_no_retry() -> None:
    script = Script("a", task_needing("b", "a"), settings=NO_RETRY)
    script.exit_attempt("a")
    script.request(lambda name: Drop(name, BATCH, "a"))
    assert script.explain("b") == "b is running: ending attempt 1: a task it needs did not succeed"
    script.request(lambda name: Retry(name, BATCH, "a"))
    script.exit_attempt("b", Category.KILLED)
    script.exit_attempt("a")
    assert script.running_tasks() == ["b"]
    assert script.task("b").counted_retries == 0


def test_a_task_whose_need_is_retried_releases_its_files() -> None:
    a, b = Task("a", touches=("x",)), Task("b", needs=(Need("a"),), touches=("x",))
    script = Script(a, b)
    script.exit_attempt("a")
    script.request(lambda name: Drop(name, BATCH, "a"))
    script.request(lambda name: Retry(name, BATCH, "a"))
    script.exit_attempt("b", Category.KILLED)
    assert script.running_tasks() == ["a"]
    script.exit_attempt("a")
    script.exit_attempt("b")
    assert script.batch().ended == "completed"


def test_a_budget_pause_ends_when_its_task_is_gone() -> None:
    settings = Settings(budget=Budget(microusd=10), reserve=Spend(20), gate="make")
    script = Script("a", settings=settings)
    assert script.batch().paused is not None
    script.request(lambda name: CancelTask(name, BATCH, "a"))
    assert script.batch().ended == "failed"


def test_no_task_is_retried_while_its_batch_is_being_cancelled() -> None:
    script = Script("a", "b", settings=Settings(gate="g", retries=0))
    script.exit_attempt("a", Category.TASK)
    script.request(lambda name: CancelBatch(name, BATCH))
    assert refusal(script.request(lambda name: Retry(name, BATCH, "a"))) == "batch b1 is being cancelled"
    script.exit_attempt("b", Category.KILLED)
    assert script.batch().ended == "cancelled"
    script.request(lambda name: Drop(name, BATCH, "a"))
    assert script.batch().ended == "cancelled"


def test_a_stopped_batch_holds_no_locks() -> None:
    in_place = Settings(isolation=Isolation.IN_PLACE)
    script = Script(Task("a", touches=("x",)), settings=in_place)
    script.request(lambda name: Stop(name, BATCH))
    script.exit_attempt("a", Category.KILLED)
    assert started_tasks(script.submit(Task("b", touches=("x",)), settings=in_place, batch="b2")) == ["b"]
    script.request(lambda name: Resume(name, BATCH))
    assert script.explain("a") == "a is waiting: touches x, held by b of batch b2"


def test_dropping_the_failure_that_halted_a_batch_lets_the_others_be_retried() -> None:
    script = Script("a", "b", settings=Settings(max_parallel=1, retries=0, stop_on_fail=True))
    script.exit_attempt("a", Category.TASK)
    script.request(lambda name: Drop(name, BATCH, "a"))
    assert script.batch().ended == "failed"  # b was not done
    script.request(lambda name: Retry(name, BATCH, "b"))
    script.exit_attempt("b")
    assert script.batch().ended == "completed"


def test_a_batch_that_waits_for_budget_can_be_paused() -> None:
    script = Script("a", settings=Settings(budget=Budget(microusd=1), reserve=Spend(2)))
    assert refusal(script.request(lambda name: Pause(name, BATCH))) == ""
    more = Settings(budget=None)
    assert started_tasks(script.request(lambda name: ChangeSettings(name, BATCH, more, ("budget",)))) == []
    assert started_tasks(script.request(lambda name: Unpause(name, BATCH))) == ["a"]


def test_settings_of_an_ended_batch_can_be_changed_before_a_retry() -> None:
    script = Script("a", settings=NO_RETRY)
    script.exit_attempt("a", Category.TASK)
    script.request(lambda name: ChangeSettings(name, BATCH, Settings(agents=("codex",)), ("agents",)))
    decisions = script.request(lambda name: Retry(name, BATCH, "a"))
    assert next(d.agent for d in decisions if isinstance(d, AttemptStarted)) == "codex"
