"""Retrying a task whose merge failed merges its change again without writing it again."""

from __future__ import annotations

from plait.client.next_step import suggest_next_step
from plait.core.decisions import AttemptStarted, Change, Decision, MergeStarted
from plait.core.reports import (
    AttemptLost,
    AttemptSession,
    MergeDone,
    MergeFailed,
    RebuildConflict,
    RebuildDone,
)
from plait.core.requests import Drop, Feedback, Retry
from plait.core.retry_policy import MAX_LOST_ATTEMPTS, MAX_MERGE_TRIES
from plait.core.settings import Backoff, Mode, OnConflict, Order, Settings
from plait.core.status import Category
from plait.core.task import Attempt, Need, Step, Task
from plait.testing.script import BATCH, Script, started_tasks, task_needing

QUICK = Settings(verify="make", backoff=Backoff(1, jitter=0))


def blocked(*tasks: Task | str, settings: Settings = QUICK, name: str = "a") -> Script:
    """The task is written and verified, and its merge fails until it is given up."""
    script = Script(*tasks, settings=settings)
    script.answers_merges = False
    passes(script, name)
    give_up(script, name)
    assert script.explain(name) == f"{name} is failed: the merge failed: the branch is checked out"
    return script


def passes(script: Script, name: str) -> None:
    while script.task(name).alive:
        script.exit_attempt(name)


def give_up(script: Script, name: str) -> None:
    while script.task(name).status is None:
        fail(script, name)
        script.wait(1000)


def fail(script: Script, name: str, *more: AttemptLost) -> list[Decision]:
    n = script.task(name).merging
    assert n is not None
    return script.apply(MergeFailed(BATCH, name, n, "the branch is checked out"), *more)


def gone(script: Script, name: str) -> list[Decision]:
    """Its merge fails, since its result is not there any more."""
    n = script.task(name).merging
    assert n is not None
    return fail(script, name, AttemptLost(Attempt(BATCH, name, Step.MERGE, n), "it was pruned"))


def retry(script: Script, name: str, agent: str | None = None) -> list[Decision]:
    return script.request(lambda request: Retry(request, BATCH, name, agent))


def merges(decisions: list[Decision]) -> list[MergeStarted]:
    return [each for each in decisions if isinstance(each, MergeStarted)]


def test_a_retry_of_a_failed_merge_merges_again_without_an_attempt() -> None:
    script = blocked("a", task_needing("b", "a"))
    decisions = retry(script, "a")
    assert merges(decisions) == [MergeStarted(BATCH, "a", MAX_MERGE_TRIES + 2, "base", "tip-a", "base")]
    assert started_tasks(decisions) == []
    assert script.explain("a") == "a is merging: being merged"
    done = script.apply(MergeDone(BATCH, "a", MAX_MERGE_TRIES + 2, "base+a"))
    assert script.status("a") == "done"
    assert started_tasks(done) == ["b"]


def test_a_retried_merge_has_all_its_tries_and_is_kept_after_failing() -> None:
    script = blocked("a")
    retry(script, "a")
    give_up(script, "a")
    assert script.task("a").attempt_counts[Step.MERGE] == 2 * (MAX_MERGE_TRIES + 1)
    assert len(merges(retry(script, "a"))) == 1


def test_the_next_step_says_that_no_attempt_is_needed() -> None:
    script = blocked("a")
    assert suggest_next_step(script.state, script.batch(), script.task("a")) == (
        "plait retry b1 a merges its existing result without running the agent again; "
        "plait retry b1 a --agent NAME writes it again."
    )


def test_a_retry_with_an_agent_writes_the_change_again() -> None:
    script = blocked("a", settings=Settings(agents=("claude", "codex"), backoff=Backoff(1)))
    decisions = retry(script, "a", "codex")
    assert [each.agent for each in decisions if isinstance(each, AttemptStarted)] == ["codex"]


def test_feedback_has_the_change_written_again() -> None:
    script = blocked("a")
    assert started_tasks(script.request(lambda name: Feedback(name, BATCH, "a", "use tabs"))) == ["a"]


def test_feedback_before_the_merge_restarts_the_task() -> None:
    """Its workspace was given back when it ended: a session that goes on would not find what it wrote."""
    script = Script(Task("a", touches=("x",)), Task("b", touches=("x",)), settings=Settings(backoff=Backoff(1)))
    script.apply(AttemptSession(Attempt(BATCH, "a", Step.WRITE, 1), "s1"))
    script.answers_merges = False
    passes(script, "a")
    give_up(script, "a")
    retry(script, "a")
    fail(script, "a")
    script.request(lambda name: Feedback(name, BATCH, "a", "use tabs"))
    script.answers_merges = True
    (order,) = (each for each in script.exit_attempt("b") if isinstance(each, AttemptStarted))
    assert (order.attempt.task, order.base, order.session) == ("a", "base+b", None)


def test_a_dropped_task_is_written_again() -> None:
    script = blocked("a")
    script.request(lambda name: Drop(name, BATCH, "a"))
    assert started_tasks(retry(script, "a")) == ["a"]


def test_a_conflict_keeps_no_unmerged_change() -> None:
    script = Script("a")
    script.answers_merges = False
    script.exit_attempt("a")
    script.conflict_merge("a", "x")
    assert started_tasks(retry(script, "a")) == ["a"]


def test_a_change_is_written_again_when_a_need_is_done_again() -> None:
    script = Script("a", task_needing("b", "a"), settings=QUICK)
    passes(script, "a")
    script.answers_merges = False
    passes(script, "b")
    give_up(script, "b")
    script.answers_merges = True
    assert started_tasks(retry(script, "a")) == ["a"]
    passes(script, "a")
    assert started_tasks(retry(script, "b")) == ["b"]


def test_a_need_is_not_retried_while_its_dependent_is_merged() -> None:
    script = Script("a", task_needing("b", "a"), settings=QUICK)
    passes(script, "a")
    script.answers_merges = False
    passes(script, "b")
    give_up(script, "b")
    retry(script, "b")
    assert "a is done, and b depends on it: drop it instead" in str(retry(script, "a"))


def test_a_merge_waits_when_a_need_conflicts_meanwhile() -> None:
    tasks = ("z", "a", Task("b", needs=(Need("a"),), touches=("x",)), Task("c", touches=("x",)))
    settings = Settings(on_conflict=OnConflict.REPAIR, backoff=Backoff(1), max_parallel=1, order=Order.FIFO)
    script = Script(*tasks, settings=settings)
    passes(script, "z")
    passes(script, "a")
    script.answers_merges = False
    passes(script, "b")
    give_up(script, "b")
    assert script.running_tasks() == ["c"]  # which holds the file by now
    retry(script, "b")
    fail(script, "b")
    script.request(lambda name: Drop(name, BATCH, "z"))
    script.apply(RebuildDone(BATCH, 1, (), (RebuildConflict("a", ("y",)),)))
    assert merges(script.wait(10)) == []
    assert script.explain("b") == "b is waiting: needs a"


def test_a_retried_merge_holds_its_files_again() -> None:
    script = blocked(Task("a", touches=("x",)), Task("b", touches=("x",)))
    script.exit_attempt("b", Category.USAGE)
    retry(script, "a")
    retry(script, "b")
    assert script.explain("b") == "b is waiting: touches x, held by a"
    script.apply(MergeDone(BATCH, "a", script.task("a").merging or 0, "base+a"))
    assert script.running_tasks() == ["b"]


def test_a_task_that_took_the_files_meanwhile_keeps_them() -> None:
    script = blocked(Task("a", touches=("x",)), Task("b", touches=("x",)), settings=QUICK)
    assert script.running_tasks() == ["b"]
    (merge,) = merges(retry(script, "a"))
    script.apply(MergeDone(BATCH, "a", merge.n, "base+a"))
    assert (script.status("a"), script.running_tasks()) == ("done", ["b"])


def test_in_a_queue_a_retried_merge_comes_at_once_and_a_write_in_turn() -> None:
    settings = Settings(mode=Mode.QUEUE, auto_approve=True, backoff=Backoff(1))
    script = blocked("a", "b", settings=settings)
    retry(script, "a")
    gone(script, "a")
    assert script.running_tasks() == ["b"]
    script.answers_merges = True
    assert started_tasks(script.exit_attempt("b")) == ["a"]


def test_a_repair_after_a_retried_merge_waits_for_held_files() -> None:
    settings = Settings(on_conflict=OnConflict.REPAIR, backoff=Backoff(1))
    script = blocked(Task("a", touches=("x",)), Task("b", touches=("x",)), settings=settings)
    retry(script, "a")
    script.conflict_merge("a", "x")
    assert script.explain("a") == "a is waiting: touches x, held by b"
    script.exit_attempt("b")
    again = script.apply(MergeDone(BATCH, "b", script.task("b").merging or 0, "base+b"))
    (order,) = (each for each in again if isinstance(each, AttemptStarted))
    assert (order.base, order.repairs) == ("base+b", Change("a", "base", "tip-a"))


def test_a_lost_result_is_written_again_at_once() -> None:
    script = blocked("a")
    retry(script, "a")
    (order,) = (each for each in gone(script, "a") if isinstance(each, AttemptStarted))
    assert (order.attempt, order.base) == (Attempt(BATCH, "a", Step.WRITE, 2), "base")
    assert order.feedback == "Your change is gone and was not merged. Make it again on the new base."
    script.answers_merges = True
    script.exit_attempt("a")
    script.exit_attempt("a")
    assert script.status("a") == "done"


def test_a_result_that_is_lost_repeatedly_fails_the_task() -> None:
    script = Script("a", settings=Settings(backoff=Backoff(1)))
    script.answers_merges = False
    for _ in range(MAX_LOST_ATTEMPTS):
        script.exit_attempt("a")
        assert started_tasks(gone(script, "a")) == ["a"]
    script.exit_attempt("a")
    gone(script, "a")
    assert script.task("a").category is Category.LOST
    assert started_tasks(retry(script, "a")) == ["a"]


def test_only_the_last_failed_merge_can_report_a_lost_result() -> None:
    script = Script("a", settings=Settings(backoff=Backoff(1)))
    script.answers_merges = False
    script.exit_attempt("a")
    fail(script, "a")
    script.apply(AttemptLost(Attempt(BATCH, "a", Step.MERGE, 1), "reported too late"))
    assert [each.tip for each in merges(script.wait(10))] == ["tip-a"]
    fail(script, "a", AttemptLost(Attempt(BATCH, "a", Step.MERGE, 1), "reported far too late"))
    assert [each.tip for each in merges(script.wait(10))] == ["tip-a"]
