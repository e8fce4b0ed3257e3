"""How tasks and batches may not end."""

from __future__ import annotations

from dataclasses import replace

from tests.support.handwritten_history import SETTINGS, History, breaks, ended

from plait.core import decisions as d, requests as q
from plait.core.settings import Isolation
from plait.core.status import BatchStatus, Category, TaskStatus

GATED = replace(SETTINGS, gate="make gate")


@breaks("ended-done")
def test_done_unmerged() -> None:
    History().starts().exits()(ended("a", TaskStatus.DONE))


@breaks("ended-done")
def test_done_ungated() -> None:
    History(GATED).starts().exits().merges()(ended("a", TaskStatus.DONE))


@breaks("ended-done")
def test_done_though_cancelled() -> None:
    history = History().starts().exits().merges().grants(q.CancelTask("c", "B", "a"), "a")
    history(ended("a", TaskStatus.DONE))


@breaks("ended-done")
def test_done_without_the_words() -> None:
    history = History(replace(SETTINGS, isolation=Isolation.IN_PLACE)).starts()
    history.grants(q.Feedback("f", "B", "a", "blue"), "a").exits()(ended("a", TaskStatus.DONE))


@breaks("ended")
def test_ended_while_running() -> None:
    History().starts().grants(q.CancelTask("c", "B", "a"), "a")(ended("a", TaskStatus.CANCELLED))


@breaks("twice")
def test_ended_twice() -> None:
    History().done()(ended("a", TaskStatus.DONE))


@breaks("ended-failed")
def test_failed_with_retries_left() -> None:
    History().starts().exits(category=Category.TASK)(ended("a", TaskStatus.FAILED))


@breaks("ended-failed")
def test_failed_by_a_rate_limit() -> None:
    History().starts().exits(category=Category.RATE_LIMIT)(ended("a", TaskStatus.FAILED))


@breaks("ended-failed")
def test_failed_though_ok() -> None:
    History().starts().exits()(ended("a", TaskStatus.FAILED))


@breaks("ended-failed")
def test_guilty_unproved() -> None:
    history = History(GATED).starts().exits().merges()
    history(ended("a", TaskStatus.FAILED, category=Category.GATE))


@breaks("ended-timed_out")
def test_timed_out_by_itself() -> None:
    History(retries=0).starts().exits(category=Category.TASK)(ended("a", TaskStatus.TIMED_OUT))


@breaks("ended-blocked")
def test_blocked_by_nothing() -> None:
    History()(ended("b", TaskStatus.BLOCKED, by="a"))


@breaks("ended-blocked")
def test_blocked_by_another() -> None:
    history = History(retries=0).starts().exits(category=Category.TASK)(ended("a", TaskStatus.FAILED))
    history(ended("b", TaskStatus.BLOCKED, by="b"))


@breaks("ended-skipped")
def test_skipped_by_nobody() -> None:
    History()(ended("a", TaskStatus.SKIPPED))


@breaks("ended-conflicted")
def test_conflicted_for_nothing() -> None:
    History()(ended("a", TaskStatus.CONFLICTED))


@breaks("ended-cancelled")
def test_cancelled_by_nobody() -> None:
    History()(ended("a", TaskStatus.CANCELLED))


@breaks("ended")
def test_interrupted_is_no_end() -> None:
    History()(ended("a", TaskStatus.INTERRUPTED))


@breaks("halted")
def test_halted_for_nothing() -> None:
    history = History(retries=0).starts().exits(category=Category.TASK)(ended("a", TaskStatus.FAILED))
    history(d.BatchHalted("B", "a", "a failed"))


@breaks("owed")
def test_halt_forgotten() -> None:
    settings = replace(SETTINGS, stop_on_fail=True, retries=0)
    history = History(settings, apart=True).starts().exits(category=Category.TASK)
    history(ended("a", TaskStatus.FAILED)).rests()


@breaks("batch-ended")
def test_batch_ended_early() -> None:
    History().done()(d.BatchEnded("B", BatchStatus.COMPLETED, "done"))


@breaks("owed")
def test_batch_never_ended() -> None:
    History().grants(q.CancelBatch("c", "B"))(
        ended("a", TaskStatus.CANCELLED), ended("b", TaskStatus.CANCELLED)
    ).rests()


@breaks("stuck")
def test_never_finished() -> None:
    History().auditor.stuck("the end")
