"""Batch views: status, progress, and whether a batch waits for a person."""

from __future__ import annotations

from plait.core.reports import (
    CapacityChanged,
    ClockJumped,
    GateLost,
    MergeFailed,
    PressureChanged,
    RebuildFailed,
    SourcesUnwritten,
    SourcesWritten,
)
from plait.core.requests import CancelBatch, Drop, Feedback, Pause, Resume, Retry, Stop
from plait.core.scheduler.rules import is_engine_needed
from plait.core.settings import Backoff, Budget, Isolation, Mode, Publish, Settings, Spend
from plait.core.status import BatchStatus, Category, TaskStatus, WaitReason
from plait.core.task import Task
from plait.core.views import make_batch_view
from plait.testing.script import BATCH, Script, started_tasks, task_needing

LONG_BACKOFF = Backoff(base=60, factor=2, cap=600, jitter=0)


def waits_for_person(script: Script, batch: str = BATCH) -> bool:
    """What the batch says; an engine may leave only then."""
    said = make_batch_view(script.state, script.batch(batch)).waits_for_person
    assert said or is_engine_needed(script.state)
    return said


def test_the_counts_sum_to_the_total() -> None:
    script = Script(
        "a", "b", task_needing("c", "a"), task_needing("d", "b"), settings=Settings(retries=0, max_parallel=2)
    )
    script.exit_attempt("a", Category.AUTH)
    view = make_batch_view(script.state, script.batch())
    counts = {status: count for status, count in view.progress.counts if count}
    assert counts == {
        TaskStatus.FAILED: 1,
        TaskStatus.BLOCKED: 1,
        TaskStatus.RUNNING: 1,
        TaskStatus.WAITING: 1,
    }
    assert sum(counts.values()) == view.progress.total == 4


def test_a_batch_view_has_the_status_and_reason() -> None:
    script = Script("a", "b", settings=Settings(max_parallel=1))

    def status() -> BatchStatus:
        return make_batch_view(script.state, script.batch()).status

    assert status() is BatchStatus.RUNNING
    script.request(lambda name: Pause(name, BATCH))
    assert status() is BatchStatus.PAUSED
    script.request(lambda name: CancelBatch(name, BATCH))
    assert status() is BatchStatus.RUNNING  # asked for, not done yet
    script.exit_attempt("a", Category.KILLED)
    assert status() is BatchStatus.CANCELLED


def test_a_batch_that_only_merges_has_the_status_merging() -> None:
    script = Script("a")
    script.answers_merges = False
    script.exit_attempt("a")
    assert make_batch_view(script.state, script.batch()).status is BatchStatus.MERGING


def test_a_task_shows_its_cost_its_commit_and_its_error() -> None:
    script = Script("a", "b")
    script.exit_attempt("a", spend=Spend(1_500_000, 20))
    script.exit_attempt("b", Category.AUTH, detail="no key")
    a, b = make_batch_view(script.state, script.batch()).tasks
    assert (str(a.cost), a.commit, a.error) == ("$1.50 and 20 tokens", "base+a", None)
    assert (b.error, b.category, b.attempt) == ("the agent is not logged in: no key", Category.AUTH, 1)


def test_a_batch_view_says_when_everything_waits_for_a_person() -> None:
    script = Script("a", "b", task_needing("c", "a"), settings=Settings(max_parallel=1))

    def waits() -> bool:
        return make_batch_view(script.state, script.batch()).waits_for_person

    assert not waits()
    script.exit_attempt("a", Category.QUESTION, question="which port?")
    assert not waits()  # b is running
    script.exit_attempt("b")
    assert waits()
    script.request(lambda name: Feedback(name, BATCH, "a", "8080"))
    assert not waits()


def test_an_unapproved_queue_and_a_paused_batch_wait_for_a_person() -> None:
    queue = Script("a", "b", settings=Settings(mode=Mode.QUEUE))
    assert make_batch_view(queue.state, queue.batch()).waits_for_person
    paused = Script("a", "b", settings=Settings(max_parallel=1))
    paused.request(lambda name: Pause(name, BATCH))
    assert not make_batch_view(paused.state, paused.batch()).waits_for_person
    paused.exit_attempt("a")
    assert make_batch_view(paused.state, paused.batch()).waits_for_person


def test_a_pause_before_the_gate_waits_for_a_person_even_without_open_tasks() -> None:
    script = Script("a", "b", settings=Settings(gate="make"))
    for name in "ab":
        script.exit_attempt(name)
    while script.batch().gate is not None:
        script.finish_gate(passed=True)
    script.request(lambda name: Drop(name, BATCH, "a"))
    script.request(lambda name: Pause(name, BATCH))
    gate = script.batch().gate
    assert gate is not None
    assert not make_batch_view(script.state, script.batch()).waits_for_person
    script.apply(GateLost(BATCH, gate.n, "it is gone"))
    assert make_batch_view(script.state, script.batch()).waits_for_person


def test_waiting_for_a_file_of_another_batch_is_not_waiting_for_a_person() -> None:
    in_place = Settings(isolation=Isolation.IN_PLACE)
    script = Script(Task("holder", touches=("x",)), settings=in_place)
    script.submit(Task("a", touches=("x",)), "b", settings=in_place, batch="b2")
    script.exit_attempt("b", Category.QUESTION, batch="b2", question="which port?")
    assert not make_batch_view(script.state, script.batch("b2")).waits_for_person
    script.exit_attempt("holder")
    script.exit_attempt("a", batch="b2")
    assert make_batch_view(script.state, script.batch("b2")).waits_for_person


def test_waiting_for_memory_is_not_waiting_for_a_person() -> None:
    script = Script("a", "b", settings=Settings(max_parallel=1))
    script.apply(CapacityChanged(0, "only 90 MiB of memory left"))
    script.exit_attempt("a")
    view = make_batch_view(script.state, script.batch())
    assert [task.waiting for task in view.tasks] == [None, WaitReason.MEMORY]
    assert not view.waits_for_person


def test_a_batch_that_the_provider_rule_pauses_during_a_backoff_waits_for_a_person() -> None:
    script = Script(*"abcdef", settings=Settings(max_parallel=3, retries=1, backoff=LONG_BACKOFF))
    script.exit_attempt("c", Category.TASK)
    script.exit_attempt("a", Category.AUTH)
    script.exit_attempt("b", Category.AUTH)
    assert script.explain("c") == (
        "c is waiting: the batch is paused: the provider rejected 2 tasks in a row: fix the cause and resume"
    )
    assert not waits_for_person(script)  # d and e run, f is queued
    script.exit_attempt("d", Category.AUTH)
    script.exit_attempt("e", Category.AUTH)
    assert waits_for_person(script)
    assert not is_engine_needed(script.state)
    assert started_tasks(script.wait(600)) == []
    assert started_tasks(script.request(lambda name: Resume(name, BATCH))) == ["c", "f"]


def test_a_pause_during_a_backoff_waits_for_a_person() -> None:
    script = Script("a", settings=Settings(retries=1, backoff=LONG_BACKOFF))
    script.exit_attempt("a", Category.TASK)
    assert not waits_for_person(script)
    script.request(lambda name: Pause(name, BATCH))
    assert waits_for_person(script)


def test_a_paused_batch_still_merges_after_a_backoff() -> None:
    script = Script("a", "b", settings=Settings(max_parallel=1, backoff=LONG_BACKOFF))
    script.answers_merges = False
    script.exit_attempt("a")
    script.request(lambda name: Pause(name, BATCH))
    script.apply(MergeFailed(BATCH, "a", 1, "the branch is checked out"))
    assert script.explain("a").startswith("a is merging: merging again soon")
    assert not waits_for_person(script)
    script.answers_merges = True
    script.wait(60)
    assert script.status("a") == "done"
    assert waits_for_person(script)


def test_what_a_budget_lets_continue_is_not_left_to_a_person() -> None:
    budget = Budget(microusd=1_000_000)
    script = Script("a", "b", settings=Settings(max_parallel=1, budget=budget, verify="make test"))
    script.apply(PressureChanged("load 9 on 2 cores"))
    script.exit_attempt("a", spend=Spend(990_000, 0))
    assert script.batch().paused is not None
    assert not waits_for_person(script)


def test_a_rebuild_that_failed_too_often_waits_for_a_person() -> None:
    script = Script("a", "b", settings=Settings(max_parallel=2))
    script.exit_attempt("a")
    script.answers_merges = False
    script.request(lambda name: Drop(name, BATCH, "a"))
    script.exit_attempt("b")
    for n in (1, 2, 3):
        assert not waits_for_person(script)
        script.apply(RebuildFailed(BATCH, n, "disk full"))
    assert script.explain("b").startswith("b is merging: the batch is paused: rebuilding the batch branch failed")
    assert waits_for_person(script)


def test_a_running_gate_or_rebuild_is_not_waiting_for_a_person() -> None:
    script = Script("a", "b", settings=Settings(gate="make"))
    script.exit_attempt("a", Category.QUESTION, question="which port?")
    script.exit_attempt("b")
    assert not waits_for_person(script)
    script.finish_gate(passed=True)
    assert waits_for_person(script)
    script.answers_merges = False
    script.request(lambda name: Drop(name, BATCH, "b"))
    assert not waits_for_person(script)


def test_a_batch_waits_for_a_person_with_the_batch_that_holds_its_files() -> None:
    in_place = Settings(isolation=Isolation.IN_PLACE)
    script = Script(Task("holder", touches=("x",)), settings=in_place)
    script.submit(Task("a", touches=("x",)), settings=in_place, batch="b2")
    assert not waits_for_person(script, "b2")
    script.exit_attempt("holder", Category.QUESTION, question="which port?")
    assert waits_for_person(script)
    assert waits_for_person(script, "b2")


def test_a_paused_batch_waits_for_a_person_whatever_holds_its_files() -> None:
    in_place = Settings(isolation=Isolation.IN_PLACE)
    script = Script(Task("holder", touches=("x",)), settings=in_place)
    script.submit(Task("a", touches=("x",)), settings=in_place, batch="b2")
    script.request(lambda name: Pause(name, "b2"))
    assert waits_for_person(script, "b2")


def test_sources_without_the_statuses_are_named_until_they_have_them() -> None:
    script = Script(Task("a"), Task("b"))
    unwritten = SourcesUnwritten(BATCH, "TODO.md", ("a", "b"), 3, "it is a folder", "put the file back")
    script.apply(unwritten)
    assert make_batch_view(script.state, script.batch()).unwritten == (unwritten,)
    script.apply(SourcesWritten(BATCH, ("a", "other"), 9))
    assert [each.tasks for each in make_batch_view(script.state, script.batch()).unwritten] == [("b",)]
    script.apply(SourcesWritten(BATCH, ("b",), 9), SourcesUnwritten("unknown", "x", (), 1, "gone"))
    assert make_batch_view(script.state, script.batch()).unwritten == ()


def end_of(script: Script) -> tuple[BatchStatus, str]:
    view = make_batch_view(script.state, script.batch())
    return view.status, view.reason


def test_a_batch_with_merged_and_unmerged_tasks_is_partial() -> None:
    script = Script("a", "b", task_needing("c", "b"), "d", settings=Settings(retries=0))
    script.exit_attempt("a")
    script.exit_attempt("b", Category.TASK)
    script.request(lambda name: Drop(name, BATCH, "d"))
    script.exit_attempt("d")
    assert script.batch().ended is BatchStatus.FAILED  # the journal's word for it
    assert end_of(script) == (BatchStatus.PARTIAL, "1 merged, 2 not merged")
    script.request(lambda name: Retry(name, BATCH, "b"))
    script.exit_attempt("b")
    script.exit_attempt("c")
    assert end_of(script)[0] is BatchStatus.COMPLETED


def test_a_batch_has_failed_if_nothing_is_merged_or_a_failure_stopped_it() -> None:
    script = Script("a", "b", settings=Settings(retries=0))
    for name in "ab":
        script.exit_attempt(name, Category.TASK)
    assert end_of(script) == (BatchStatus.FAILED, "2 failed")
    script = Script("a", "b", "c", settings=Settings(retries=0, max_parallel=1, stop_on_fail=True))
    script.exit_attempt("a")
    script.exit_attempt("b", Category.TASK)
    assert end_of(script) == (BatchStatus.FAILED, "1 done, 1 failed, 1 skipped")


def test_a_partial_batch_says_that_it_could_not_be_published() -> None:
    script = Script("a", "b", settings=Settings(retries=0, publish=Publish.PR))
    script.exit_attempt("a")
    script.exit_attempt("b", Category.TASK)
    script.fail_publish("no network")
    assert end_of(script) == (BatchStatus.PARTIAL, "1 merged, 1 not merged; not published: no network")


def times_of(script: Script) -> tuple[float, float, list[float]]:
    """Wall time, agent time, and the time of each task."""
    view = make_batch_view(script.state, script.batch())
    now = script.now
    return view.wall_time.measure(now), view.agent_time.measure(now), [task.work.measure(now) for task in view.tasks]


def test_times_count_what_runs_and_not_what_waits() -> None:
    script = Script("a", "b", settings=Settings(max_parallel=2, retries=1, backoff=LONG_BACKOFF))
    script.wait(8)
    assert times_of(script) == (8, 16, [8, 8])
    script.exit_attempt("a", Category.TASK)
    script.exit_attempt("b")
    script.wait(40)  # a waits for its retry
    assert times_of(script) == (10, 19, [9, 10])
    script.wait(30)
    seconds = times_of(script)[2][0]
    assert 9 < seconds < 9 + 30


def test_times_leave_out_what_is_stopped_and_what_comes_after_the_end() -> None:
    script = Script("a", "b", settings=Settings(max_parallel=2))
    script.wait(5)
    script.request(lambda name: Stop(name, BATCH))
    for name in "ab":
        script.exit_attempt(name, Category.KILLED)
    assert times_of(script) == (8, 15, [7, 8])
    script.wait(8 * 3600)
    assert times_of(script) == (8, 15, [7, 8])
    script.request(lambda name: Resume(name, BATCH))
    for name in "ab":
        script.exit_attempt(name)
    script.wait(3600)
    script.request(lambda name: Drop(name, BATCH, "a"))
    assert times_of(script) == (10, 18, [8, 10])


def test_a_gate_counts_as_time_of_the_batch_and_not_of_agents() -> None:
    script = Script("a", settings=Settings(gate="make"))
    script.exit_attempt("a")
    script.wait(60)
    script.finish_gate(passed=True)
    script.wait(60)
    assert times_of(script) == (62, 1, [1])


def test_a_suspended_machine_is_not_at_work() -> None:
    script = Script("a")
    script.now += 3600
    script.apply(ClockJumped(3600.0))
    assert times_of(script) == (1, 1, [1])
