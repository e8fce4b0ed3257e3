"""How tasks and batches may not end."""

from __future__ import annotations

from dataclasses import replace

from plait.core import decisions as d, requests as q
from plait.core.settings import Isolation
from plait.core.status import BatchStatus, Category, TaskStatus
from tests.support.handwritten_history import SETTINGS, History, expect_violation, task_ended

GATED = replace(SETTINGS, gate="make gate")


@expect_violation("ended-done")
def test_a_task_is_not_done_before_it_is_merged() -> None:
    History().start_attempt().exit_attempt()(task_ended("a", TaskStatus.DONE))


@expect_violation("ended-done")
def test_a_task_is_not_done_before_the_gate_passes() -> None:
    History(GATED).start_attempt().exit_attempt().merge()(task_ended("a", TaskStatus.DONE))


@expect_violation("ended-done")
def test_a_cancelled_task_is_not_done() -> None:
    history = History().start_attempt().exit_attempt().merge().grant(q.CancelTask("c", "B", "a"), "a")
    history(task_ended("a", TaskStatus.DONE))


@expect_violation("ended-done")
def test_a_task_is_not_done_before_an_attempt_had_the_feedback() -> None:
    history = History(replace(SETTINGS, isolation=Isolation.IN_PLACE)).start_attempt()
    history.grant(q.Feedback("f", "B", "a", "blue"), "a").exit_attempt()(task_ended("a", TaskStatus.DONE))


@expect_violation("ended")
def test_a_task_does_not_end_while_an_attempt_runs() -> None:
    History().start_attempt().grant(q.CancelTask("c", "B", "a"), "a")(task_ended("a", TaskStatus.CANCELLED))


@expect_violation("twice")
def test_a_task_does_not_end_twice() -> None:
    History().finish()(task_ended("a", TaskStatus.DONE))


@expect_violation("ended-failed")
def test_a_task_with_retries_left_does_not_fail() -> None:
    History().start_attempt().exit_attempt(category=Category.TASK)(task_ended("a", TaskStatus.FAILED))


@expect_violation("ended-failed")
def test_a_rate_limit_fails_no_task() -> None:
    History().start_attempt().exit_attempt(category=Category.RATE_LIMIT)(task_ended("a", TaskStatus.FAILED))


@expect_violation("ended-failed")
def test_a_successful_attempt_fails_no_task() -> None:
    History().start_attempt().exit_attempt()(task_ended("a", TaskStatus.FAILED))


@expect_violation("ended-failed")
def test_a_gate_fails_no_task_before_it_passed_without_it() -> None:
    history = History(GATED).start_attempt().exit_attempt().merge()
    history(task_ended("a", TaskStatus.FAILED, category=Category.GATE))


@expect_violation("ended-timed_out")
def test_a_task_times_out_only_by_a_timeout() -> None:
    History(retries=0).start_attempt().exit_attempt(category=Category.TASK)(task_ended("a", TaskStatus.TIMED_OUT))


@expect_violation("ended-blocked")
def test_a_task_is_blocked_only_by_a_dependency_that_ended() -> None:
    History()(task_ended("b", TaskStatus.BLOCKED, by="a"))


@expect_violation("ended-blocked")
def test_a_task_is_blocked_only_by_its_own_dependency() -> None:
    history = (
        History(retries=0).start_attempt().exit_attempt(category=Category.TASK)(task_ended("a", TaskStatus.FAILED))
    )
    history(task_ended("b", TaskStatus.BLOCKED, by="b"))


@expect_violation("ended-skipped")
def test_a_task_is_skipped_only_on_request() -> None:
    History()(task_ended("a", TaskStatus.SKIPPED))


@expect_violation("ended-conflicted")
def test_a_task_ends_conflicted_only_after_a_conflict() -> None:
    History()(task_ended("a", TaskStatus.CONFLICTED))


@expect_violation("ended-cancelled")
def test_a_task_is_cancelled_only_on_request() -> None:
    History()(task_ended("a", TaskStatus.CANCELLED))


@expect_violation("ended")
def test_a_task_does_not_end_as_interrupted() -> None:
    History()(task_ended("a", TaskStatus.INTERRUPTED))


@expect_violation("halted")
def test_a_batch_halts_only_if_a_failure_is_to_halt_it() -> None:
    history = (
        History(retries=0).start_attempt().exit_attempt(category=Category.TASK)(task_ended("a", TaskStatus.FAILED))
    )
    history(d.BatchHalted("B", "a", "a failed"))


@expect_violation("owed")
def test_a_failure_that_is_to_halt_the_batch_does() -> None:
    settings = replace(SETTINGS, stop_on_fail=True, retries=0)
    history = History(settings, apart=True).start_attempt().exit_attempt(category=Category.TASK)
    history(task_ended("a", TaskStatus.FAILED)).check_idle()


@expect_violation("batch-ended")
def test_a_batch_does_not_end_before_its_tasks() -> None:
    History().finish()(d.BatchEnded("B", BatchStatus.COMPLETED, "done"))


@expect_violation("owed")
def test_a_batch_ends_when_its_tasks_have_ended() -> None:
    History().grant(q.CancelBatch("c", "B"))(
        task_ended("a", TaskStatus.CANCELLED), task_ended("b", TaskStatus.CANCELLED)
    ).check_idle()


@expect_violation("stuck")
def test_a_run_that_ends_with_open_tasks_is_stuck() -> None:
    History().auditor.fail_stuck("the end")
