"""Deadlines, alarms and the clock."""

from __future__ import annotations

from plait.core import decisions as d, reports as r, requests as q
from plait.core.status import Category, EndWhy
from tests.support.handwritten_history import History, attempt_of, expect_violation, retry_granted


@expect_violation("ending")
def test_timeout_early() -> None:
    History().start_attempt().advance()(d.AttemptEnding(attempt_of(), EndWhy.TIMEOUT))


@expect_violation("ending")
def test_idle_early() -> None:
    history = History().start_attempt().advance(1799)(r.AttemptActive(attempt_of()))
    history.advance(10)(d.AttemptEnding(attempt_of(), EndWhy.IDLE))


@expect_violation("ending")
def test_ended_after_a_jump() -> None:
    history = History().start_attempt().advance(3600)(r.ClockJumped(3600.0))
    history(d.AttemptEnding(attempt_of(), EndWhy.TIMEOUT))


@expect_violation("twice")
def test_ending_twice() -> None:
    stop = d.AttemptEnding(attempt_of(), EndWhy.STOP)
    History().start_attempt().grant(q.Stop("s1", "B"))(stop, stop)


@expect_violation("ending")
def test_ending_nobody() -> None:
    History()(d.AttemptEnding(attempt_of(), EndWhy.STOP))


@expect_violation("ending")
def test_runs_on() -> None:
    History().start_attempt().grant(q.CancelTask("c", "B", "a"), "a").check_idle(wake=1900.0)


@expect_violation("clock")
def test_clock_forgotten() -> None:
    History()(r.ClockJumped(50.0)).check_idle()


@expect_violation("clock")
def test_clock_wrong() -> None:
    History()(r.ClockJumped(50.0), d.DeadlinesMoved(20.0))


@expect_violation("alarm")
def test_sleeps_too_long() -> None:
    history = History().start_attempt()
    history.check_idle(wake=history.now + 1801)


@expect_violation("alarm")
def test_alarm_in_the_past() -> None:
    history = History().start_attempt()
    history.check_idle(wake=history.now)


def test_a_clock_that_is_set_back_makes_nobody_wait_longer() -> None:
    history = History().start_attempt().exit_attempt(category=Category.TASK)(retry_granted(at=1100.0))
    history.advance(-500)(r.ClockJumped(-500.0), d.DeadlinesMoved(-500.0))
    history.advance(100)(d.BackoffEnded("B", "a"))
