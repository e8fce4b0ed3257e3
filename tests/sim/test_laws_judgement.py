"""Exits are judged once, by what they were; going again has rules."""

from __future__ import annotations

from dataclasses import replace

from tests.support.handwritten_history import SETTINGS, History, again, breaks, name

from plait.core import decisions as d, reports as r, requests as q
from plait.core.status import Category, EndWhy
from plait.core.task import Step


@breaks("retry")
def test_permanent_again() -> None:
    History().starts().exits(category=Category.AUTH)(again())


@breaks("retry")
def test_again_too_soon() -> None:
    History().starts().exits(category=Category.TASK)(again(at=1005.1))


@breaks("retry")
def test_again_before_asked() -> None:
    History().starts().exits(category=Category.OVERLOADED, retry_after=5000.0)(again())


@breaks("retry")
def test_again_too_often() -> None:
    History(replace(SETTINGS, retries=0)).starts().exits(category=Category.TASK)(again())


@breaks("retry")
def test_again_uncounted() -> None:
    History().starts().exits(category=Category.TASK)(again(counted=False))


@breaks("retry")
def test_again_though_ok() -> None:
    History().starts().exits()(again())


@breaks("retry")
def test_again_for_nothing() -> None:
    History()(again())


@breaks("backoff")
def test_let_go_too_soon() -> None:
    History().starts().exits(category=Category.TASK)(again()).later()(d.BackoffEnded("B", "a"))


@breaks("judged")
def test_passed_though_failed() -> None:
    History().starts().exits(category=Category.TASK)(d.StepPassed(name(), Step.MERGE))


@breaks("step")
def test_unverified() -> None:
    History(verify="make").starts().exits()(d.StepPassed(name(), Step.MERGE))


@breaks("judged")
def test_judged_twice() -> None:
    passed = d.StepPassed(name(), Step.MERGE)
    History().starts().exits()(passed, passed)


@breaks("judged")
def test_question_not_asked() -> None:
    History().starts().exits(category=Category.TASK)(d.AnswerAwaited("B", "a", "?"))


@breaks("judged")
def test_interrupted_by_nobody() -> None:
    History().starts().exits(category=Category.KILLED)(d.TaskInterrupted("B", "a", "stop"))


@breaks("judged")
def test_never_judged() -> None:
    History().starts().exits().rests()


def test_an_attempt_that_asked_and_was_not_answered_waits_for_the_answer() -> None:
    history = History().starts()(r.AttemptAsked(name(), "which?")).later(1800)
    history(d.AttemptEnding(name(), EndWhy.IDLE)).exits(category=Category.KILLED)
    history(d.AnswerAwaited("B", "a", "which?"))


@breaks("retry")
def test_a_question_is_not_answered_by_trying_again() -> None:
    history = History().starts()(r.AttemptAsked(name(), "which?")).later(1800)
    history(d.AttemptEnding(name(), EndWhy.IDLE)).exits(category=Category.KILLED)(again(at=9000.0))


@breaks("retry")
def test_what_plait_ended_uses_up_no_retry() -> None:
    history = History().starts().grants(q.Stop("s1", "B"))(d.AttemptEnding(name(), EndWhy.STOP))
    history.grants(q.Resume("r1", "B")).exits(category=Category.KILLED)(again())


def test_a_check_that_was_taken_out_passes_without_an_attempt() -> None:
    history = History(replace(SETTINGS, verify="make")).starts().exits()(d.StepPassed(name(), Step.VERIFY))
    history.grants(q.ChangeSettings("c", "B", SETTINGS, ("verify",)))(d.StepPassed(name(), Step.MERGE))
