"""Deadlines, alarms and the clock."""

from __future__ import annotations

from plait.core import decisions as d, reports as r, requests as q
from plait.core.status import Category, EndWhy
from tests.support.handwritten_history import History, attempt_of, expect_violation, retry_granted


@expect_violation("ending")
def test_an_attempt_does_not_time_out_before_its_timeout() -> None:
    History().start_attempt().advance()(d.AttemptEnding(attempt_of(), EndWhy.TIMEOUT))


@expect_violation("ending")
def test_an_attempt_does_not_end_as_idle_before_its_idle_timeout() -> None:
    history = History().start_attempt().advance(1799)(r.AttemptActive(attempt_of()))
    history.advance(10)(d.AttemptEnding(attempt_of(), EndWhy.IDLE))


@expect_violation("ending")
def test_a_clock_jump_times_no_attempt_out() -> None:
    history = History().start_attempt().advance(3600)(r.ClockJumped(3600.0))
    history(d.AttemptEnding(attempt_of(), EndWhy.TIMEOUT))


@expect_violation("twice")
def test_an_attempt_is_not_ended_twice_for_one_reason() -> None:
    stop = d.AttemptEnding(attempt_of(), EndWhy.STOP)
    History().start_attempt().grant(q.Stop("s1", "B"))(stop, stop)


@expect_violation("ending")
def test_an_attempt_that_does_not_run_is_not_ended() -> None:
    History()(d.AttemptEnding(attempt_of(), EndWhy.STOP))


@expect_violation("ending")
def test_a_cancelled_attempt_is_ended() -> None:
    History().start_attempt().grant(q.CancelTask("c", "B", "a"), "a").check_idle(wake=1900.0)


@expect_violation("clock")
def test_a_clock_jump_moves_the_deadlines() -> None:
    History()(r.ClockJumped(50.0)).check_idle()


@expect_violation("clock")
def test_deadlines_move_by_as_much_as_the_clock() -> None:
    History()(r.ClockJumped(50.0), d.DeadlinesMoved(20.0))


@expect_violation("alarm")
def test_the_engine_wakes_no_later_than_the_next_deadline() -> None:
    history = History().start_attempt()
    history.check_idle(wake=history.now + 1801)


@expect_violation("alarm")
def test_the_engine_wakes_in_the_future() -> None:
    history = History().start_attempt()
    history.check_idle(wake=history.now)


def test_a_clock_set_back_makes_no_backoff_longer() -> None:
    history = History().start_attempt().exit_attempt(category=Category.TASK)(retry_granted(at=1100.0))
    history.advance(-500)(r.ClockJumped(-500.0), d.DeadlinesMoved(-500.0))
    history.advance(100)(d.BackoffEnded("B", "a"))
