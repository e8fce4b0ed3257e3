"""Exits are judged once, by what they were; going again has rules."""

from __future__ import annotations

from dataclasses import replace

from plait.core import decisions as d, reports as r, requests as q
from plait.core.status import Category, EndWhy
from plait.core.task import Step
from tests.support.handwritten_history import SETTINGS, History, attempt_of, expect_violation, retry_granted


@expect_violation("retry")
def test_a_permanent_failure_is_not_retried() -> None:
    History().start_attempt().exit_attempt(category=Category.AUTH)(retry_granted())


@expect_violation("retry")
def test_a_retry_waits_for_its_backoff() -> None:
    History().start_attempt().exit_attempt(category=Category.TASK)(retry_granted(at=1005.1))


@expect_violation("retry")
def test_a_retry_waits_for_the_providers_retry_after() -> None:
    History().start_attempt().exit_attempt(category=Category.OVERLOADED, retry_after=5000.0)(retry_granted())


@expect_violation("retry")
def test_a_task_is_not_retried_more_often_than_its_limit() -> None:
    History(replace(SETTINGS, retries=0)).start_attempt().exit_attempt(category=Category.TASK)(retry_granted())


@expect_violation("retry")
def test_a_retry_after_a_failure_counts() -> None:
    History().start_attempt().exit_attempt(category=Category.TASK)(retry_granted(counted=False))


@expect_violation("retry")
def test_a_successful_attempt_is_not_retried() -> None:
    History().start_attempt().exit_attempt()(retry_granted())


@expect_violation("retry")
def test_a_retry_follows_an_attempt() -> None:
    History()(retry_granted())


@expect_violation("backoff")
def test_a_backoff_does_not_end_early() -> None:
    History().start_attempt().exit_attempt(category=Category.TASK)(retry_granted()).advance()(d.BackoffEnded("B", "a"))


@expect_violation("judged")
def test_a_failed_attempt_does_not_pass_its_step() -> None:
    History().start_attempt().exit_attempt(category=Category.TASK)(d.StepPassed(attempt_of(), Step.MERGE))


@expect_violation("step")
def test_a_task_is_verified_before_it_is_merged() -> None:
    History(verify="make").start_attempt().exit_attempt()(d.StepPassed(attempt_of(), Step.MERGE))


@expect_violation("judged")
def test_an_attempt_is_judged_once() -> None:
    passed = d.StepPassed(attempt_of(), Step.MERGE)
    History().start_attempt().exit_attempt()(passed, passed)


@expect_violation("judged")
def test_a_task_waits_for_an_answer_only_after_a_question() -> None:
    History().start_attempt().exit_attempt(category=Category.TASK)(d.AnswerAwaited("B", "a", "?"))


@expect_violation("judged")
def test_a_task_is_interrupted_only_on_request() -> None:
    History().start_attempt().exit_attempt(category=Category.KILLED)(d.TaskInterrupted("B", "a", "stop"))


@expect_violation("judged")
def test_an_attempt_that_exited_is_judged() -> None:
    History().start_attempt().exit_attempt().check_idle()


def test_an_unanswered_question_is_waited_for() -> None:
    history = History().start_attempt()(r.AttemptAsked(attempt_of(), "which?")).advance(1800)
    history(d.AttemptEnding(attempt_of(), EndWhy.IDLE)).exit_attempt(category=Category.KILLED)
    history(d.AnswerAwaited("B", "a", "which?"))


@expect_violation("retry")
def test_a_question_is_not_answered_by_a_retry() -> None:
    history = History().start_attempt()(r.AttemptAsked(attempt_of(), "which?")).advance(1800)
    history(d.AttemptEnding(attempt_of(), EndWhy.IDLE)).exit_attempt(category=Category.KILLED)(retry_granted(at=9000.0))


@expect_violation("retry")
def test_an_attempt_that_plait_ended_uses_up_no_retry() -> None:
    history = History().start_attempt().grant(q.Stop("s1", "B"))(d.AttemptEnding(attempt_of(), EndWhy.STOP))
    history.grant(q.Resume("r1", "B")).exit_attempt(category=Category.KILLED)(retry_granted())


def test_a_removed_verification_passes_without_an_attempt() -> None:
    history = (
        History(replace(SETTINGS, verify="make"))
        .start_attempt()
        .exit_attempt()(d.StepPassed(attempt_of(), Step.VERIFY))
    )
    history.grant(q.ChangeSettings("c", "B", SETTINGS, ("verify",)))(d.StepPassed(attempt_of(), Step.MERGE))
