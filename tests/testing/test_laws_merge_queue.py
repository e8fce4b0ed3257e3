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
def test_two_merges_do_not_run_at_once() -> None:
    history = History(replace(SETTINGS, max_parallel=0), apart=True).start_attempt().exit_attempt()
    history(d.StepPassed(attempt_of(), Step.MERGE), d.MergeStarted("B", "a", 1, "base", "base+a", "base"))
    history(d.MergeStarted("B", "a", 2, "base", "base+a", "base"))


@expect_violation("merge")
def test_a_merge_starts_at_the_tip_of_the_branch() -> None:
    history = History().start_attempt().exit_attempt()(d.StepPassed(attempt_of(), Step.MERGE))
    history(d.MergeStarted("B", "a", 1, "base", "base+a", "another"))


@expect_violation("merge")
def test_a_task_is_not_merged_before_its_step() -> None:
    History().start_attempt().exit_attempt()(d.MergeStarted("B", "a", 1, "base", "base+a", "base"))


@expect_violation("owed")
def test_a_task_that_passed_is_merged() -> None:
    History().start_attempt().exit_attempt()(d.StepPassed(attempt_of(), Step.MERGE)).check_idle()


@expect_violation("rebuild")
def test_a_branch_is_rebuilt_only_if_a_task_was_dropped() -> None:
    History().finish()(d.RebuildStarted("B", 1, ("a",)))


@expect_violation("owed")
def test_a_dropped_task_leads_to_a_rebuild() -> None:
    history = History().finish().grant(q.Drop("d", "B", "a"), "a")
    history(task_ended("a", TaskStatus.SKIPPED), task_ended("b", TaskStatus.BLOCKED, by="a")).check_idle()


@expect_violation("retry")
def test_a_conflict_is_not_retried_too_often() -> None:
    settings = replace(SETTINGS, on_conflict=OnConflict.REPAIR, repairs=0)
    history = History(settings).start_attempt().exit_attempt()(d.StepPassed(attempt_of(), Step.MERGE))
    history(d.MergeStarted("B", "a", 1, "base", "base+a", "base"), r.MergeConflicted("B", "a", 1, ("x",)))
    history(retry_granted(at=history.now, counted=False, category=Category.CONFLICT, feedback="again"))


@expect_violation("gate")
def test_two_gates_do_not_run_at_once() -> None:
    history = (
        History(GATED).start_attempt().exit_attempt().merge()(d.GateStarted("B", 1, "base+a", 1, 60.0, "make gate"))
    )
    history(d.GateStarted("B", 2, "base+a", 1, 60.0, "make gate"))


@expect_violation("gate")
def test_a_gate_runs_on_the_tip_of_the_branch() -> None:
    History(GATED).start_attempt().exit_attempt().merge()(d.GateStarted("B", 1, "base", 1, 60.0, "make gate"))


@expect_violation("owed")
def test_a_merge_is_followed_by_a_gate() -> None:
    History(GATED).start_attempt().exit_attempt().merge().check_idle()


@expect_violation("ending")
def test_a_gate_does_not_time_out_early() -> None:
    history = (
        History(GATED).start_attempt().exit_attempt().merge()(d.GateStarted("B", 1, "base+a", 1, 60.0, "make gate"))
    )
    history.advance()(d.GateEnding("B", 1, EndWhy.TIMEOUT))


@expect_violation("paused")
def test_a_batch_is_paused_for_its_gate_only_if_the_base_fails_it() -> None:
    History(GATED)(d.BatchPaused("B", PauseCause.GATE, "bad base"))


@expect_violation("phase")
def test_a_phase_does_not_open_before_the_one_before_it_ended() -> None:
    History(phase="1")(d.PhaseOpened("B", "2", "why not"))


@expect_violation("merge")
def test_a_merge_has_the_base_of_the_attempt() -> None:
    history = History().start_attempt().exit_attempt()(d.StepPassed(attempt_of(), Step.MERGE))
    history(d.MergeStarted("B", "a", 1, "elsewhere", "base+a", "base"))


@expect_violation("rebuild")
def test_a_rebuild_has_the_changes_that_are_left() -> None:
    history = History(apart=True).finish().grant(q.Drop("d", "B", "a"), "a")
    line = (d.Change("b", "base", "base+b"),)
    history(task_ended("a", TaskStatus.SKIPPED), d.RebuildStarted("B", 1, ("a",), line))


def test_a_failed_rebuild_is_retried_with_another_number() -> None:
    history = History(apart=True).finish().grant(q.Drop("d", "B", "a"), "a")(task_ended("a", TaskStatus.SKIPPED))
    for n in (1, 2, 3):
        history(d.RebuildStarted("B", n, ("a",)), r.RebuildFailed("B", n, "full"))
    history(d.BatchPaused("B", PauseCause.BRANCH, "full")).check_idle()


@expect_violation("paused")
def test_a_batch_is_paused_for_its_branch_only_after_an_error() -> None:
    History()(d.BatchPaused("B", PauseCause.BRANCH, "full"))


@expect_violation("gate")
def test_a_gate_runs_the_configured_command() -> None:
    History(GATED).start_attempt().exit_attempt().merge()(d.GateStarted("B", 1, "base+a", 1, 60.0, "make coffee"))


@expect_violation("ended-done")
def test_the_result_of_a_stopped_gate_does_not_count() -> None:
    history = (
        History(GATED).start_attempt().exit_attempt().merge()(d.GateStarted("B", 1, "base+a", 1, 60.0, "make gate"))
    )
    history.grant(q.Stop("s1", "B"))(d.GateEnding("B", 1, EndWhy.STOP), r.GateDone("B", 1, passed=True))
    history(task_ended("a", TaskStatus.DONE))
