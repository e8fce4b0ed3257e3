"""The batch branch, its rebuilds and its gates."""

from __future__ import annotations

from dataclasses import replace

from plait.core import decisions as d, reports as r, requests as q
from plait.core.settings import OnConflict
from plait.core.status import Category, EndWhy, PauseCause, TaskStatus
from plait.core.task import Step
from tests.support.handwritten_history import (
    SETTINGS,
    History,
    attempt_of,
    expect_violation,
    retry_granted,
    task_ended,
)

GATED = replace(SETTINGS, gate="make gate")


@expect_violation("merge")
def test_two_merges() -> None:
    history = History(replace(SETTINGS, max_parallel=0), apart=True).start_attempt().exit_attempt()
    history(d.StepPassed(attempt_of(), Step.MERGE), d.MergeStarted("B", "a", 1, "base", "base+a", "base"))
    history(d.MergeStarted("B", "a", 2, "base", "base+a", "base"))


@expect_violation("merge")
def test_merged_elsewhere() -> None:
    history = History().start_attempt().exit_attempt()(d.StepPassed(attempt_of(), Step.MERGE))
    history(d.MergeStarted("B", "a", 1, "base", "base+a", "another"))


@expect_violation("merge")
def test_merged_too_soon() -> None:
    History().start_attempt().exit_attempt()(d.MergeStarted("B", "a", 1, "base", "base+a", "base"))


@expect_violation("owed")
def test_merge_forgotten() -> None:
    History().start_attempt().exit_attempt()(d.StepPassed(attempt_of(), Step.MERGE)).check_idle()


@expect_violation("rebuild")
def test_rebuilt_for_nothing() -> None:
    History().finish()(d.RebuildStarted("B", 1, ("a",)))


@expect_violation("owed")
def test_rebuild_forgotten() -> None:
    history = History().finish().grant(q.Drop("d", "B", "a"), "a")
    history(task_ended("a", TaskStatus.SKIPPED), task_ended("b", TaskStatus.BLOCKED, by="a")).check_idle()


@expect_violation("retry")
def test_repaired_too_often() -> None:
    settings = replace(SETTINGS, on_conflict=OnConflict.REPAIR, repairs=0)
    history = History(settings).start_attempt().exit_attempt()(d.StepPassed(attempt_of(), Step.MERGE))
    history(d.MergeStarted("B", "a", 1, "base", "base+a", "base"), r.MergeConflicted("B", "a", 1, ("x",)))
    history(retry_granted(at=history.now, counted=False, category=Category.CONFLICT, feedback="again"))


@expect_violation("gate")
def test_gate_twice() -> None:
    history = (
        History(GATED).start_attempt().exit_attempt().merge()(d.GateStarted("B", 1, "base+a", 1, 60.0, "make gate"))
    )
    history(d.GateStarted("B", 2, "base+a", 1, 60.0, "make gate"))


@expect_violation("gate")
def test_gate_on_the_wrong_commit() -> None:
    History(GATED).start_attempt().exit_attempt().merge()(d.GateStarted("B", 1, "base", 1, 60.0, "make gate"))


@expect_violation("owed")
def test_gate_forgotten() -> None:
    History(GATED).start_attempt().exit_attempt().merge().check_idle()


@expect_violation("ending")
def test_gate_ended_early() -> None:
    history = (
        History(GATED).start_attempt().exit_attempt().merge()(d.GateStarted("B", 1, "base+a", 1, 60.0, "make gate"))
    )
    history.advance()(d.GateEnding("B", 1, EndWhy.TIMEOUT))


@expect_violation("paused")
def test_paused_for_a_good_gate() -> None:
    History(GATED)(d.BatchPaused("B", PauseCause.GATE, "bad base"))


@expect_violation("phase")
def test_phase_opened_early() -> None:
    History(phase="1")(d.PhaseOpened("B", "2", "why not"))


@expect_violation("merge")
def test_merged_with_another_base() -> None:
    history = History().start_attempt().exit_attempt()(d.StepPassed(attempt_of(), Step.MERGE))
    history(d.MergeStarted("B", "a", 1, "elsewhere", "base+a", "base"))


@expect_violation("rebuild")
def test_rebuilt_with_another_line() -> None:
    history = History(apart=True).finish().grant(q.Drop("d", "B", "a"), "a")
    line = (d.Change("b", "base", "base+b"),)
    history(task_ended("a", TaskStatus.SKIPPED), d.RebuildStarted("B", 1, ("a",), line))


def test_a_rebuild_that_fails_is_tried_again_under_another_number() -> None:
    history = History(apart=True).finish().grant(q.Drop("d", "B", "a"), "a")(task_ended("a", TaskStatus.SKIPPED))
    for n in (1, 2, 3):
        history(d.RebuildStarted("B", n, ("a",)), r.RebuildFailed("B", n, "full"))
    history(d.BatchPaused("B", PauseCause.BRANCH, "full")).check_idle()


@expect_violation("paused")
def test_paused_for_a_branch_that_is_well() -> None:
    History()(d.BatchPaused("B", PauseCause.BRANCH, "full"))


@expect_violation("gate")
def test_another_command_than_the_gate() -> None:
    History(GATED).start_attempt().exit_attempt().merge()(d.GateStarted("B", 1, "base+a", 1, 60.0, "make coffee"))


@expect_violation("ended-done")
def test_what_a_stopped_gate_says_counts_for_nothing() -> None:
    history = (
        History(GATED).start_attempt().exit_attempt().merge()(d.GateStarted("B", 1, "base+a", 1, 60.0, "make gate"))
    )
    history.grant(q.Stop("s1", "B"))(d.GateEnding("B", 1, EndWhy.STOP), r.GateDone("B", 1, passed=True))
    history(task_ended("a", TaskStatus.DONE))
