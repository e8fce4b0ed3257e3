"""Exits are judged once, by what they were; going again has rules."""

from __future__ import annotations

from dataclasses import replace

from plait.core import decisions as d
from plait.core.status import Category
from plait.core.task import Step
from plait.testing.history import SETTINGS, History, again, breaks, name


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
