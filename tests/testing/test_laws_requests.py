"""Requests are answered once, and a good history breaks no law."""

from __future__ import annotations

from plait.core import decisions as d, reports as r, requests as q
from plait.core.events import Record
from plait.core.status import BatchStatus, Category, TaskStatus
from plait.core.task import Attempt
from tests.support.handwritten_history import (
    WRITE,
    History,
    attempt_of,
    attempt_started,
    expect_violation,
    task_ended,
)
from tests.support.laws.auditor import Auditor


def test_a_good_history_breaks_no_law() -> None:
    history = History().start_attempt()
    history.check_idle(wake=history.now + 1800)
    history(r.AttemptLaunched(attempt_of()), r.AttemptActive(attempt_of())).exit_attempt().merge()
    history(task_ended("a", TaskStatus.DONE), attempt_started("b", base="base+a")).check_idle(wake=history.now + 1800)
    history.exit_attempt("b").merge("b", "base+a")(task_ended("b", TaskStatus.DONE))
    history(d.BatchEnded("B", BatchStatus.COMPLETED, "2 done")).check_idle()
    assert history.auditor.is_finished


def test_reports_about_finished_or_unknown_things_change_nothing() -> None:
    history = History().finish()
    ghost = Attempt("B", "a", WRITE, 9)
    history(
        r.AttemptExited(attempt_of(), r.Outcome(Category.TASK)),
        r.AttemptLost(ghost, "?"),
        r.AttemptActive(ghost),
    )
    history(r.MergeDone("B", "a", 7, "x"), r.GateDone("B", 3, passed=False), r.RebuildDone("B", 4, ()))
    history(r.MergeDone("nowhere", "a", 1, "x"))(attempt_started("b", base="base+a"))


@expect_violation("paused")
def test_a_batch_is_unpaused_only_on_request() -> None:
    History().grant(q.Pause("p", "B"))(d.BatchUnpaused("B", "go"))


@expect_violation("known")
def test_a_decision_about_an_unknown_batch_is_a_violation() -> None:
    History()(d.BatchHalted("nowhere", "a", "?"))


@expect_violation("request")
def test_a_request_does_not_arrive_twice() -> None:
    History()(q.Pause("p", "B"), q.Pause("p", "B"))


@expect_violation("request")
def test_a_request_is_not_answered_twice() -> None:
    History()(q.Pause("p", "B"), d.RequestGranted("p"), d.RequestGranted("p"))


@expect_violation("request")
def test_a_refusal_has_a_reason() -> None:
    History()(q.Pause("p", "B"), d.RequestRefused("p", ""))


def test_saved_settings_belong_to_no_batch() -> None:
    History().grant(q.SaveSettings("v", (("verify", '"make"'), ("gate", None))))


@expect_violation("request")
def test_a_saved_setting_has_a_name() -> None:
    History().grant(q.SaveSettings("v", (("", "1"),)))


@expect_violation("request")
def test_a_retry_is_granted_only_for_an_ended_task() -> None:
    History()(q.Retry("x", "B", "a"), d.RequestGranted("x", ("a",)))


@expect_violation("answered")
def test_every_request_is_answered() -> None:
    History()(q.Pause("p", "B")).check_idle()


@expect_violation("order")
def test_sequence_numbers_have_no_gap() -> None:
    Auditor(lambda _: frozenset()).observe(Record(2, 0.0, r.EngineTaken(1)))
