"""How tasks and batches may not end."""

from __future__ import annotations

from dataclasses import replace

from plait.core import decisions as d, requests as q
from plait.core.settings import Isolation
from plait.core.status import BatchStatus, Category, TaskStatus
from tests.support.handwritten_history import SETTINGS, History, expect_violation, task_ended

GATED = replace(SETTINGS, gate="make gate")


@expect_violation("ended-done")
def test_done_unmerged() -> None:
    History().start_attempt().exit_attempt()(task_ended("a", TaskStatus.DONE))


@expect_violation("ended-done")
def test_done_ungated() -> None:
    History(GATED).start_attempt().exit_attempt().merge()(task_ended("a", TaskStatus.DONE))


@expect_violation("ended-done")
def test_done_though_cancelled() -> None:
    history = History().start_attempt().exit_attempt().merge().grant(q.CancelTask("c", "B", "a"), "a")
    history(task_ended("a", TaskStatus.DONE))


@expect_violation("ended-done")
def test_done_without_the_words() -> None:
    history = History(replace(SETTINGS, isolation=Isolation.IN_PLACE)).start_attempt()
    history.grant(q.Feedback("f", "B", "a", "blue"), "a").exit_attempt()(task_ended("a", TaskStatus.DONE))


@expect_violation("ended")
def test_ended_while_running() -> None:
    History().start_attempt().grant(q.CancelTask("c", "B", "a"), "a")(task_ended("a", TaskStatus.CANCELLED))


@expect_violation("twice")
def test_ended_twice() -> None:
    History().finish()(task_ended("a", TaskStatus.DONE))


@expect_violation("ended-failed")
def test_failed_with_retries_left() -> None:
    History().start_attempt().exit_attempt(category=Category.TASK)(task_ended("a", TaskStatus.FAILED))


@expect_violation("ended-failed")
def test_failed_by_a_rate_limit() -> None:
    History().start_attempt().exit_attempt(category=Category.RATE_LIMIT)(task_ended("a", TaskStatus.FAILED))


@expect_violation("ended-failed")
def test_failed_though_ok() -> None:
    History().start_attempt().exit_attempt()(task_ended("a", TaskStatus.FAILED))


@expect_violation("ended-failed")
def test_guilty_unproved() -> None:
    history = History(GATED).start_attempt().exit_attempt().merge()
    history(task_ended("a", TaskStatus.FAILED, category=Category.GATE))


@expect_violation("ended-timed_out")
def test_timed_out_by_itself() -> None:
    History(retries=0).start_attempt().exit_attempt(category=Category.TASK)(task_ended("a", TaskStatus.TIMED_OUT))


@expect_violation("ended-blocked")
def test_blocked_by_nothing() -> None:
    History()(task_ended("b", TaskStatus.BLOCKED, by="a"))


@expect_violation("ended-blocked")
def test_blocked_by_another() -> None:
    history = (
        History(retries=0).start_attempt().exit_attempt(category=Category.TASK)(task_ended("a", TaskStatus.FAILED))
    )
    history(task_ended("b", TaskStatus.BLOCKED, by="b"))


@expect_violation("ended-skipped")
def test_skipped_by_nobody() -> None:
    History()(task_ended("a", TaskStatus.SKIPPED))


@expect_violation("ended-conflicted")
def test_conflicted_for_nothing() -> None:
    History()(task_ended("a", TaskStatus.CONFLICTED))


@expect_violation("ended-cancelled")
def test_cancelled_by_nobody() -> None:
    History()(task_ended("a", TaskStatus.CANCELLED))


@expect_violation("ended")
def test_interrupted_is_no_end() -> None:
    History()(task_ended("a", TaskStatus.INTERRUPTED))


@expect_violation("halted")
def test_halted_for_nothing() -> None:
    history = (
        History(retries=0).start_attempt().exit_attempt(category=Category.TASK)(task_ended("a", TaskStatus.FAILED))
    )
    history(d.BatchHalted("B", "a", "a failed"))


@expect_violation("owed")
def test_halt_forgotten() -> None:
    settings = replace(SETTINGS, stop_on_fail=True, retries=0)
    history = History(settings, apart=True).start_attempt().exit_attempt(category=Category.TASK)
    history(task_ended("a", TaskStatus.FAILED)).check_idle()


@expect_violation("batch-ended")
def test_batch_ended_early() -> None:
    History().finish()(d.BatchEnded("B", BatchStatus.COMPLETED, "done"))


@expect_violation("owed")
def test_batch_never_ended() -> None:
    History().grant(q.CancelBatch("c", "B"))(
        task_ended("a", TaskStatus.CANCELLED), task_ended("b", TaskStatus.CANCELLED)
    ).check_idle()


@expect_violation("stuck")
def test_never_finished() -> None:
    History().auditor.fail_stuck("the end")
