"""Exits are judged once, by what they were; going again has rules."""

from __future__ import annotations

from dataclasses import replace

from plait.core import decisions as d, reports as r, requests as q
from plait.core.status import Category, EndWhy
from plait.core.task import Step
from tests.support.handwritten_history import SETTINGS, History, attempt_of, expect_violation, retry_granted


@expect_violation("retry")
def test_permanent_again() -> None:
    History().start_attempt().exit_attempt(category=Category.AUTH)(retry_granted())


@expect_violation("retry")
def test_again_too_soon() -> None:
    History().start_attempt().exit_attempt(category=Category.TASK)(retry_granted(at=1005.1))


@expect_violation("retry")
def test_again_before_asked() -> None:
    History().start_attempt().exit_attempt(category=Category.OVERLOADED, retry_after=5000.0)(retry_granted())


@expect_violation("retry")
def test_again_too_often() -> None:
    History(replace(SETTINGS, retries=0)).start_attempt().exit_attempt(category=Category.TASK)(retry_granted())


@expect_violation("retry")
def test_again_uncounted() -> None:
    History().start_attempt().exit_attempt(category=Category.TASK)(retry_granted(counted=False))


@expect_violation("retry")
def test_again_though_ok() -> None:
    History().start_attempt().exit_attempt()(retry_granted())


@expect_violation("retry")
def test_again_for_nothing() -> None:
    History()(retry_granted())


@expect_violation("backoff")
def test_let_go_too_soon() -> None:
    History().start_attempt().exit_attempt(category=Category.TASK)(retry_granted()).advance()(d.BackoffEnded("B", "a"))


@expect_violation("judged")
def test_passed_though_failed() -> None:
    History().start_attempt().exit_attempt(category=Category.TASK)(d.StepPassed(attempt_of(), Step.MERGE))


@expect_violation("step")
def test_unverified() -> None:
    History(verify="make").start_attempt().exit_attempt()(d.StepPassed(attempt_of(), Step.MERGE))


@expect_violation("judged")
def test_judged_twice() -> None:
    passed = d.StepPassed(attempt_of(), Step.MERGE)
    History().start_attempt().exit_attempt()(passed, passed)


@expect_violation("judged")
def test_question_not_asked() -> None:
    History().start_attempt().exit_attempt(category=Category.TASK)(d.AnswerAwaited("B", "a", "?"))


@expect_violation("judged")
def test_interrupted_by_nobody() -> None:
    History().start_attempt().exit_attempt(category=Category.KILLED)(d.TaskInterrupted("B", "a", "stop"))


@expect_violation("judged")
def test_never_judged() -> None:
    History().start_attempt().exit_attempt().check_idle()


def test_an_attempt_that_asked_and_was_not_answered_waits_for_the_answer() -> None:
    history = History().start_attempt()(r.AttemptAsked(attempt_of(), "which?")).advance(1800)
    history(d.AttemptEnding(attempt_of(), EndWhy.IDLE)).exit_attempt(category=Category.KILLED)
    history(d.AnswerAwaited("B", "a", "which?"))


@expect_violation("retry")
def test_a_question_is_not_answered_by_trying_again() -> None:
    history = History().start_attempt()(r.AttemptAsked(attempt_of(), "which?")).advance(1800)
    history(d.AttemptEnding(attempt_of(), EndWhy.IDLE)).exit_attempt(category=Category.KILLED)(retry_granted(at=9000.0))


@expect_violation("retry")
def test_what_plait_ended_uses_up_no_retry() -> None:
    history = History().start_attempt().grant(q.Stop("s1", "B"))(d.AttemptEnding(attempt_of(), EndWhy.STOP))
    history.grant(q.Resume("r1", "B")).exit_attempt(category=Category.KILLED)(retry_granted())


def test_a_check_that_was_taken_out_passes_without_an_attempt() -> None:
    history = (
        History(replace(SETTINGS, verify="make"))
        .start_attempt()
        .exit_attempt()(d.StepPassed(attempt_of(), Step.VERIFY))
    )
    history.grant(q.ChangeSettings("c", "B", SETTINGS, ("verify",)))(d.StepPassed(attempt_of(), Step.MERGE))
