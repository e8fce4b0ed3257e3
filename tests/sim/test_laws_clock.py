"""Deadlines, alarms and the clock."""

from __future__ import annotations

from tests.support.handwritten_history import History, again, breaks, name

from plait.core import decisions as d, reports as r, requests as q
from plait.core.status import Category, EndWhy


@breaks("ending")
def test_timeout_early() -> None:
    History().starts().later()(d.AttemptEnding(name(), EndWhy.TIMEOUT))


@breaks("ending")
def test_idle_early() -> None:
    history = History().starts().later(1799)(r.AttemptActive(name()))
    history.later(10)(d.AttemptEnding(name(), EndWhy.IDLE))


@breaks("ending")
def test_ended_after_a_jump() -> None:
    history = History().starts().later(3600)(r.ClockJumped(3600.0))
    history(d.AttemptEnding(name(), EndWhy.TIMEOUT))


@breaks("twice")
def test_ending_twice() -> None:
    stop = d.AttemptEnding(name(), EndWhy.STOP)
    History().starts().grants(q.Stop("s1", "B"))(stop, stop)


@breaks("ending")
def test_ending_nobody() -> None:
    History()(d.AttemptEnding(name(), EndWhy.STOP))


@breaks("ending")
def test_runs_on() -> None:
    History().starts().grants(q.CancelTask("c", "B", "a"), "a").rests(wake=1900.0)


@breaks("clock")
def test_clock_forgotten() -> None:
    History()(r.ClockJumped(50.0)).rests()


@breaks("clock")
def test_clock_wrong() -> None:
    History()(r.ClockJumped(50.0), d.DeadlinesMoved(20.0))


@breaks("alarm")
def test_sleeps_too_long() -> None:
    history = History().starts()
    history.rests(wake=history.now + 1801)


@breaks("alarm")
def test_alarm_in_the_past() -> None:
    history = History().starts()
    history.rests(wake=history.now)


def test_a_clock_that_is_set_back_makes_nobody_wait_longer() -> None:
    history = History().starts().exits(category=Category.TASK)(again(at=1100.0))
    history.later(-500)(r.ClockJumped(-500.0), d.DeadlinesMoved(-500.0))
    history.later(100)(d.BackoffEnded("B", "a"))
