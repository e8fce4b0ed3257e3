"""The batch branch, its rebuilds and its gates."""

from __future__ import annotations

from dataclasses import replace

from tests.support.handwritten_history import SETTINGS, History, again, breaks, ended, name

from plait.core import decisions as d, reports as r, requests as q
from plait.core.settings import OnConflict
from plait.core.status import Category, EndWhy, PauseCause, TaskStatus
from plait.core.task import Step

GATED = replace(SETTINGS, gate="make gate")


@breaks("merge")
def test_two_merges() -> None:
    history = History(replace(SETTINGS, max_parallel=0), apart=True).starts().exits()
    history(d.StepPassed(name(), Step.MERGE), d.MergeStarted("B", "a", 1, "base", "base+a", "base"))
    history(d.MergeStarted("B", "a", 2, "base", "base+a", "base"))


@breaks("merge")
def test_merged_elsewhere() -> None:
    history = History().starts().exits()(d.StepPassed(name(), Step.MERGE))
    history(d.MergeStarted("B", "a", 1, "base", "base+a", "another"))


@breaks("merge")
def test_merged_too_soon() -> None:
    History().starts().exits()(d.MergeStarted("B", "a", 1, "base", "base+a", "base"))


@breaks("owed")
def test_merge_forgotten() -> None:
    History().starts().exits()(d.StepPassed(name(), Step.MERGE)).rests()


@breaks("rebuild")
def test_rebuilt_for_nothing() -> None:
    History().done()(d.RebuildStarted("B", 1, ("a",)))


@breaks("owed")
def test_rebuild_forgotten() -> None:
    history = History().done().grants(q.Drop("d", "B", "a"), "a")
    history(ended("a", TaskStatus.SKIPPED), ended("b", TaskStatus.BLOCKED, by="a")).rests()


@breaks("retry")
def test_repaired_too_often() -> None:
    settings = replace(SETTINGS, on_conflict=OnConflict.REPAIR, repairs=0)
    history = History(settings).starts().exits()(d.StepPassed(name(), Step.MERGE))
    history(d.MergeStarted("B", "a", 1, "base", "base+a", "base"), r.MergeConflicted("B", "a", 1, ("x",)))
    history(again(at=history.now, counted=False, category=Category.CONFLICT, feedback="again"))


@breaks("gate")
def test_gate_twice() -> None:
    history = History(GATED).starts().exits().merges()(d.GateStarted("B", 1, "base+a", 1, 60.0, "make gate"))
    history(d.GateStarted("B", 2, "base+a", 1, 60.0, "make gate"))


@breaks("gate")
def test_gate_on_the_wrong_commit() -> None:
    History(GATED).starts().exits().merges()(d.GateStarted("B", 1, "base", 1, 60.0, "make gate"))


@breaks("owed")
def test_gate_forgotten() -> None:
    History(GATED).starts().exits().merges().rests()


@breaks("ending")
def test_gate_ended_early() -> None:
    history = History(GATED).starts().exits().merges()(d.GateStarted("B", 1, "base+a", 1, 60.0, "make gate"))
    history.later()(d.GateEnding("B", 1, EndWhy.TIMEOUT))


@breaks("paused")
def test_paused_for_a_good_gate() -> None:
    History(GATED)(d.BatchPaused("B", PauseCause.GATE, "bad base"))


@breaks("phase")
def test_phase_opened_early() -> None:
    History(phase="1")(d.PhaseOpened("B", "2", "why not"))


@breaks("merge")
def test_merged_with_another_base() -> None:
    history = History().starts().exits()(d.StepPassed(name(), Step.MERGE))
    history(d.MergeStarted("B", "a", 1, "elsewhere", "base+a", "base"))


@breaks("rebuild")
def test_rebuilt_with_another_line() -> None:
    history = History(apart=True).done().grants(q.Drop("d", "B", "a"), "a")
    line = (d.Change("b", "base", "base+b"),)
    history(ended("a", TaskStatus.SKIPPED), d.RebuildStarted("B", 1, ("a",), line))


def test_a_rebuild_that_fails_is_tried_again_under_another_number() -> None:
    history = History(apart=True).done().grants(q.Drop("d", "B", "a"), "a")(ended("a", TaskStatus.SKIPPED))
    for n in (1, 2, 3):
        history(d.RebuildStarted("B", n, ("a",)), r.RebuildFailed("B", n, "full"))
    history(d.BatchPaused("B", PauseCause.BRANCH, "full")).rests()


@breaks("paused")
def test_paused_for_a_branch_that_is_well() -> None:
    History()(d.BatchPaused("B", PauseCause.BRANCH, "full"))


@breaks("gate")
def test_another_command_than_the_gate() -> None:
    History(GATED).starts().exits().merges()(d.GateStarted("B", 1, "base+a", 1, 60.0, "make coffee"))


@breaks("ended-done")
def test_what_a_stopped_gate_says_counts_for_nothing() -> None:
    history = History(GATED).starts().exits().merges()(d.GateStarted("B", 1, "base+a", 1, 60.0, "make gate"))
    history.grants(q.Stop("s1", "B"))(d.GateEnding("B", 1, EndWhy.STOP), r.GateDone("B", 1, passed=True))
    history(ended("a", TaskStatus.DONE))
