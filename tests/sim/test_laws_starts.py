"""When an attempt may not start."""

from __future__ import annotations

from dataclasses import replace

from tests.support.handwritten_history import SETTINGS, VERIFY, History, again, breaks, ended, name, start

from plait.core import decisions as d, reports as r, requests as q
from plait.core.settings import Budget, Mode, Spend
from plait.core.status import Category, PauseCause, TaskStatus
from plait.core.task import Step

QUEUE = replace(SETTINGS, mode=Mode.QUEUE)


@breaks("needs")
def test_starts_too_soon() -> None:
    History().starts("b")


@breaks("base")
def test_base_lacks_need() -> None:
    History().done().starts("b")


@breaks("workspace")
def test_two_at_once() -> None:
    History().starts()(start(n=2))


@breaks("twice")
def test_same_number() -> None:
    history = History().starts().exits(category=Category.TASK)(again())
    history.later(2000)(d.BackoffEnded("B", "a"), start())


@breaks("step")
def test_wrong_step() -> None:
    History().starts(step=VERIFY, timeout=1800.0)


@breaks("phase")
def test_phase_closed() -> None:
    History(phase="2").starts()


@breaks("paused")
def test_paused() -> None:
    History().grants(q.Pause("p", "B")).starts()


@breaks("pressure")
def test_pressed() -> None:
    History()(r.PressureChanged("memory")).starts()


@breaks("cancelled")
def test_cancelled() -> None:
    History().grants(q.CancelTask("c", "B", "a"), "a").starts()


@breaks("blocked")
def test_halted() -> None:
    history = History(replace(SETTINGS, stop_on_fail=True, retries=0), apart=True)
    history.starts().exits(category=Category.TASK)(ended("a", TaskStatus.FAILED))
    history(d.BatchHalted("B", "a", "a failed")).starts("b")


@breaks("judged")
def test_unjudged() -> None:
    History().starts().exits(category=Category.TASK)(start(n=2))


@breaks("waits")
def test_in_backoff() -> None:
    History().starts().exits(category=Category.TASK)(again()).later()(start(n=2))


@breaks("ended")
def test_ended_already() -> None:
    History().done()(start(n=2))


@breaks("rebuild")
def test_rebuild_owed() -> None:
    history = History(apart=True).done()
    history.grants(q.Drop("d", "B", "a"), "a")(ended("a", TaskStatus.SKIPPED)).starts("b")


@breaks("queue")
def test_queue_busy() -> None:
    history = History(QUEUE, apart=True).grants(q.Approve("1", "B"), "a").grants(q.Approve("2", "B"), "b")
    history.starts().starts("b")


@breaks("approval")
def test_not_approved() -> None:
    History(QUEUE).starts()


@breaks("order")
def test_out_of_order() -> None:
    History(apart=True).starts("b")


@breaks("starved")
def test_starved() -> None:
    History().rests()


@breaks("feedback")
def test_words_are_repeated_until_an_attempt_succeeds_with_them() -> None:
    history = History().grants(q.Feedback("f", "B", "a", "blue"), "a").starts(feedback="blue")
    history.exits(category=Category.RATE_LIMIT)(again(at=history.now, counted=False))
    history(
        d.BreakerOpened("north", history.now, 1, "429"), d.BreakerClosed("north"), d.BackoffEnded("B", "a")
    )
    history(start(n=2))


def test_money_that_is_short_stops_no_verification() -> None:
    settings = replace(SETTINGS, verify="make", budget=Budget(100), reserve=Spend(60))
    history = History(settings).starts(reserve=Spend(60)).exits()(d.StepPassed(name(), Step.VERIFY))
    history(d.BatchPaused("B", PauseCause.BUDGET, "no money"))
    history(start(step=VERIFY, timeout=1800.0, idle_timeout=1800.0, command="make", base="base+a"))
