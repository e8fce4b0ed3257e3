"""Publishing: one at a time, what was tested, and when somebody asked for it or all else is over."""

from __future__ import annotations

from dataclasses import replace

from plait.core import decisions as d, reports as r, requests as q
from plait.core.settings import FileConflicts, Publish
from plait.core.status import BatchStatus, TaskStatus
from plait.core.task import Step
from tests.support.handwritten_history import (
    SETTINGS,
    History,
    attempt_of,
    attempt_started,
    expect_violation,
    task_ended,
)

PUBLIC = replace(SETTINGS, publish=Publish.PR)
GATED = replace(PUBLIC, gate="make gate")
BOTH = "base+a+b"
FIRST = d.PublishStarted("B", 1, BOTH, Publish.PR)
END = d.BatchEnded("B", BatchStatus.COMPLETED, "2 done")


def over(history: History) -> History:
    """Both are done, and nothing else is under way."""
    history.finish()(attempt_started("b", base="base+a")).exit_attempt("b").merge("b", "base+a")
    return history(task_ended("b", TaskStatus.DONE))


def test_a_good_history_breaks_no_law() -> None:
    history = over(History(PUBLIC))(FIRST)
    history.check_idle()
    assert not history.auditor.is_finished
    history(r.PublishFailed("B", 1, "the forge said no", commit=BOTH), END).check_idle()
    history.grant(q.Ship("ship", "B", Publish.PR))(d.PublishStarted("B", 2, BOTH, Publish.PR, BOTH))
    assert not history.auditor.is_finished
    history(r.PublishDone("B", 2, "url", BOTH)).check_idle()
    assert history.auditor.is_finished


@expect_violation("owed")
def test_a_finished_batch_is_published() -> None:
    over(History(PUBLIC)).check_idle()


@expect_violation("publish")
def test_a_publish_request_is_carried_out() -> None:
    over(History()).grant(q.Ship("ship", "B")).check_idle()


@expect_violation("batch-ended")
def test_a_batch_does_not_end_unpublished() -> None:
    over(History(PUBLIC))(END)


@expect_violation("batch-ended")
def test_a_batch_does_not_end_while_it_is_being_published() -> None:
    over(History(PUBLIC))(FIRST, END)


@expect_violation("publish")
def test_a_batch_is_not_published_twice_at_once() -> None:
    history = over(History(PUBLIC))(FIRST)
    history.grant(q.Ship("ship", "B"))(replace(FIRST, n=2))


@expect_violation("publish")
def test_an_unchanged_batch_is_not_published_again() -> None:
    over(History(PUBLIC))(FIRST, r.PublishDone("B", 1, "url", BOTH), replace(FIRST, n=2, expected=BOTH))


@expect_violation("publish")
def test_a_batch_is_not_published_before_its_tasks_end() -> None:
    History(PUBLIC).finish()(d.PublishStarted("B", 1, "base+a", Publish.PR))


@expect_violation("publish")
def test_a_batch_is_published_only_on_request() -> None:
    over(History())(FIRST)


@expect_violation("publish")
def test_a_paused_batch_is_not_published() -> None:
    over(History(PUBLIC)).grant(q.Pause("p", "B"))(FIRST)


@expect_violation("publish")
def test_a_batch_is_published_as_requested() -> None:
    over(History()).grant(q.Ship("ship", "B", Publish.PUSH))(FIRST)


@expect_violation("publish")
def test_only_the_tip_of_the_branch_is_published() -> None:
    over(History(PUBLIC))(replace(FIRST, commit="base+b"))


@expect_violation("publish")
def test_a_dropped_task_is_not_published() -> None:
    history = over(History(PUBLIC)).grant(q.Drop("d", "B", "b"), "b")(task_ended("b", TaskStatus.SKIPPED))
    history.grant(q.Ship("ship", "B"))(FIRST)


@expect_violation("publish")
def test_publishing_does_not_overwrite_a_foreign_push() -> None:
    over(History(PUBLIC))(replace(FIRST, expected="theirs"))


def test_a_given_title_and_body_stay_until_they_are_changed() -> None:
    history = over(History()).grant(q.Ship("s1", "B", title="Walls", body="Agreed."))
    history(replace(FIRST, title="Walls", body="Agreed.", renamed=True), r.PublishDone("B", 1, "url", BOTH))
    again = d.PublishStarted("B", 2, BOTH, Publish.PR, BOTH, "Walls", "")
    history.grant(q.Ship("s2", "B", body=""))(again)


@expect_violation("publish")
def test_a_given_title_is_used() -> None:
    over(History()).grant(q.Ship("ship", "B", title="Walls"))(replace(FIRST, renamed=True))


@expect_violation("publish")
def test_a_pull_request_is_renamed_only_on_request() -> None:
    over(History()).grant(q.Ship("ship", "B", body="Agreed."))(replace(FIRST, body="Agreed.", renamed=True))


@expect_violation("request")
def test_a_title_has_one_line() -> None:
    over(History()).grant(q.Ship("ship", "B", title="two\nlines"))


@expect_violation("publish")
def test_an_untested_commit_is_not_published() -> None:
    history = History(GATED).start_attempt().exit_attempt().merge()
    history.grant(q.Ship("ship", "B"))(d.PublishStarted("B", 1, "base+a", Publish.PR))


@expect_violation("batch-ended")
def test_a_batch_does_not_end_with_a_gate_that_passed_another_commit() -> None:
    history = History(replace(GATED, publish=Publish.OFF), apart=True)
    history.start_attempt().exit_attempt().merge().start_attempt("b", base="base+a").exit_attempt("b").merge(
        "b", "base+a"
    )
    gate = d.GateStarted("B", 1, BOTH, 2, 3600.0, "make gate")
    history(
        gate,
        r.GateDone("B", 1, passed=True),
        task_ended("a", TaskStatus.DONE),
        task_ended("b", TaskStatus.DONE),
    )
    history.grant(q.Drop("d", "B", "b"), "b")(task_ended("b", TaskStatus.SKIPPED))
    line = (d.Change("a", "base", "base+a"),)
    history(d.RebuildStarted("B", 1, ("b",), line))
    history(r.RebuildDone("B", 1, (r.MergedTask("a", "base+a"),)), END)


@expect_violation("holds")
def test_a_file_changed_by_an_unmerged_task_is_locked() -> None:
    History(apart=True, wants="x").start_attempt().exit_attempt(files=("x",)).start_attempt("b")


def test_a_file_changed_by_a_merged_task_is_free() -> None:
    settings = replace(SETTINGS, file_conflicts=FileConflicts.DECLARED)
    history = History(settings, apart=True, wants="x").start_attempt().exit_attempt(files=("x",))
    history(d.StepPassed(attempt_of(), Step.MERGE)).start_attempt("b")
