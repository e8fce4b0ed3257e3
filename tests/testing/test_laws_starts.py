"""When an attempt may not start."""

from __future__ import annotations

from dataclasses import replace

from plait.core import decisions as d, reports as r, requests as q
from plait.core.settings import Budget, Mode, Spend
from plait.core.status import Category, PauseCause, TaskStatus
from plait.core.task import Step
from tests.support.handwritten_history import (
    SETTINGS,
    VERIFY,
    History,
    attempt_of,
    attempt_started,
    expect_violation,
    retry_granted,
    task_ended,
)

QUEUE = replace(SETTINGS, mode=Mode.QUEUE)


@expect_violation("needs")
def test_a_task_does_not_start_before_its_dependencies() -> None:
    History().start_attempt("b")


@expect_violation("base")
def test_an_attempt_starts_from_a_base_with_its_dependencies() -> None:
    History().finish().start_attempt("b")


@expect_violation("workspace")
def test_a_task_has_one_attempt_at_a_time() -> None:
    History().start_attempt()(attempt_started(n=2))


@expect_violation("twice")
def test_an_attempt_number_is_not_used_twice() -> None:
    history = History().start_attempt().exit_attempt(category=Category.TASK)(retry_granted())
    history.advance(2000)(d.BackoffEnded("B", "a"), attempt_started())


@expect_violation("step")
def test_a_task_starts_with_its_first_step() -> None:
    History().start_attempt(step=VERIFY, timeout=1800.0)


@expect_violation("phase")
def test_nothing_starts_in_a_closed_phase() -> None:
    History(phase="2").start_attempt()


@expect_violation("paused")
def test_nothing_starts_in_a_paused_batch() -> None:
    History().grant(q.Pause("p", "B")).start_attempt()


@expect_violation("pressure")
def test_nothing_starts_under_memory_pressure() -> None:
    History()(r.PressureChanged("memory")).start_attempt()


@expect_violation("cancelled")
def test_a_cancelled_task_does_not_start() -> None:
    History().grant(q.CancelTask("c", "B", "a"), "a").start_attempt()


@expect_violation("blocked")
def test_nothing_starts_in_a_halted_batch() -> None:
    history = History(replace(SETTINGS, stop_on_fail=True, retries=0), apart=True)
    history.start_attempt().exit_attempt(category=Category.TASK)(task_ended("a", TaskStatus.FAILED))
    history(d.BatchHalted("B", "a", "a failed")).start_attempt("b")


@expect_violation("judged")
def test_an_attempt_starts_after_the_last_one_is_judged() -> None:
    History().start_attempt().exit_attempt(category=Category.TASK)(attempt_started(n=2))


@expect_violation("waits")
def test_a_task_in_backoff_does_not_start() -> None:
    History().start_attempt().exit_attempt(category=Category.TASK)(retry_granted()).advance()(attempt_started(n=2))


@expect_violation("ended")
def test_an_ended_task_does_not_start() -> None:
    History().finish()(attempt_started(n=2))


@expect_violation("rebuild")
def test_nothing_starts_before_a_pending_rebuild() -> None:
    history = History(apart=True).finish()
    history.grant(q.Drop("d", "B", "a"), "a")(task_ended("a", TaskStatus.SKIPPED)).start_attempt("b")


@expect_violation("queue")
def test_a_queue_runs_one_task_at_a_time() -> None:
    history = History(QUEUE, apart=True).grant(q.Approve("1", "B"), "a").grant(q.Approve("2", "B"), "b")
    history.start_attempt().start_attempt("b")


@expect_violation("approval")
def test_a_queued_task_does_not_start_unapproved() -> None:
    History(QUEUE).start_attempt()


@expect_violation("order")
def test_tasks_start_in_their_order() -> None:
    History(apart=True).start_attempt("b")


@expect_violation("starved")
def test_a_task_that_can_start_does() -> None:
    History().check_idle()


@expect_violation("feedback")
def test_feedback_is_repeated_until_an_attempt_succeeds_with_it() -> None:
    history = History().grant(q.Feedback("f", "B", "a", "blue"), "a").start_attempt(feedback="blue")
    history.exit_attempt(category=Category.RATE_LIMIT)(retry_granted(at=history.now, counted=False))
    history(d.BreakerOpened("north", history.now, 1, "429"), d.BreakerClosed("north"), d.BackoffEnded("B", "a"))
    history(attempt_started(n=2))


def test_a_short_budget_stops_no_verification() -> None:
    settings = replace(SETTINGS, verify="make", budget=Budget(100), reserve=Spend(60))
    history = History(settings).start_attempt(reserve=Spend(60)).exit_attempt()(d.StepPassed(attempt_of(), Step.VERIFY))
    history(d.BatchPaused("B", PauseCause.BUDGET, "no money"))
    history(attempt_started(step=VERIFY, timeout=1800.0, idle_timeout=1800.0, command="make", base="base+a"))
