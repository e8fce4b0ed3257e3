"""Requests are answered once, and a good history breaks no law."""

from __future__ import annotations

from tests.support.handwritten_history import WRITE, History, breaks, ended, name, start

from plait.core import decisions as d, reports as r, requests as q
from plait.core.events import Record
from plait.core.status import BatchStatus, Category, TaskStatus
from plait.core.task import Attempt
from plait.testing.laws.auditor import Auditor


def test_a_good_history_breaks_no_law() -> None:
    history = History().starts()
    history.rests(wake=history.now + 1800)
    history(r.AttemptLaunched(name()), r.AttemptActive(name())).exits().merges()
    history(ended("a", TaskStatus.DONE), start("b", base="base+a")).rests(wake=history.now + 1800)
    history.exits("b").merges("b", "base+a")(ended("b", TaskStatus.DONE))
    history(d.BatchEnded("B", BatchStatus.COMPLETED, "2 done")).rests()
    assert history.auditor.finished


def test_reports_about_what_is_over_or_unknown_change_nothing() -> None:
    history = History().done()
    ghost = Attempt("B", "a", WRITE, 9)
    history(
        r.AttemptExited(name(), r.Outcome(Category.TASK)), r.AttemptLost(ghost, "?"), r.AttemptActive(ghost)
    )
    history(r.MergeDone("B", "a", 7, "x"), r.GateDone("B", 3, passed=False), r.RebuildDone("B", 4, ()))
    history(r.MergeDone("nowhere", "a", 1, "x"))(start("b", base="base+a"))


@breaks("paused")
def test_unpaused_by_nobody() -> None:
    History().grants(q.Pause("p", "B"))(d.BatchUnpaused("B", "go"))


@breaks("known")
def test_unknown_batch() -> None:
    History()(d.BatchHalted("nowhere", "a", "?"))


@breaks("request")
def test_request_twice() -> None:
    History()(q.Pause("p", "B"), q.Pause("p", "B"))


@breaks("request")
def test_answered_twice() -> None:
    History()(q.Pause("p", "B"), d.RequestGranted("p"), d.RequestGranted("p"))


@breaks("request")
def test_refused_without_a_word() -> None:
    History()(q.Pause("p", "B"), d.RequestRefused("p", ""))


def test_saved_settings_are_nobody_s_batch() -> None:
    History().grants(q.SaveSettings("v", (("verify", '"make"'), ("gate", None))))


@breaks("request")
def test_saved_what_no_setting_is_like() -> None:
    History().grants(q.SaveSettings("v", (("", "1"),)))


@breaks("request")
def test_granted_to_nobody() -> None:
    History()(q.Retry("x", "B", "a"), d.RequestGranted("x", ("a",)))


@breaks("answered")
def test_unanswered() -> None:
    History()(q.Pause("p", "B")).rests()


@breaks("order")
def test_gap_in_the_list() -> None:
    Auditor(lambda _: frozenset()).observe(Record(2, 0.0, r.EngineTaken(1)))
