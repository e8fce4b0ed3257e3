"""Repairs of one file run one after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

from hypothesis import given, strategies as st

from plait.core.decisions import AttemptStarted, Decision, MergeStarted
from plait.core.reports import MergeConflicted, Report
from plait.core.settings import FileConflicts, Mode, OnConflict, Settings
from plait.core.task import Task
from plait.testing.script import BATCH, Script

ONCE = Settings(on_conflict=OnConflict.REPAIR, repairs=1, max_parallel=0)
FILES = ("w", "x", "y", "z")


class Shared(Script):
    """Each task changes the same files whenever it is written, and says so only then. A merge conflicts with whatever has
    come into the branch since the task's base and changes one of them.
    """

    def __init__(self, changes: Mapping[str, Sequence[str]], settings: Settings = ONCE) -> None:
        self.changes = changes
        super().__init__(*map(Task, changes), settings=settings)

    def writes(self, name: str) -> list[Decision]:
        return self.exit_attempt(name, files=tuple(self.changes[name]))

    def repairing(self) -> list[str]:
        return [name.task for name, each in self.batch().alive.items() if each.decision.repairs is not None]

    def _answer_merge(self, decision: Decision) -> Report | None:
        if isinstance(decision, MergeStarted):
            since = set(decision.onto.split("+")) - set(decision.base.split("+"))
            others = {file for task in since for file in self.changes[task]}
            if files := others.intersection(self.changes[decision.task]):
                return MergeConflicted(BATCH, decision.task, decision.n, tuple(sorted(files)))
        return super()._answer_merge(decision)


def test_a_repair_waits_for_the_task_that_holds_its_file() -> None:
    script = Shared({"a": "x", "b": "x", "c": "x"})
    for name in "abc":
        script.writes(name)
    assert script.repairing() == ["b"]
    assert script.explain("c") == "c is waiting: touches x, held by b"
    (order,) = (each for each in script.writes("b") if isinstance(each, AttemptStarted))
    assert (order.attempt.task, order.base) == ("c", "base+a+b")
    script.writes("c")
    assert [script.status(name) for name in "abc"] == ["done"] * 3


def test_a_task_that_waits_for_a_repair_holds_no_other_file() -> None:
    script = Shared({"a": "x", "b": "x", "c": "xy", "d": "y"})
    for name in "abcd":
        script.writes(name)
    assert script.repairing() == ["b"]
    assert script.status("d") == "done"


def test_a_repair_of_another_file_does_not_wait() -> None:
    script = Shared({"a": "xy", "b": "x", "c": "y"})
    for name in "abc":
        script.writes(name)
    assert script.repairing() == ["b", "c"]


def test_in_a_queue_a_repair_keeps_its_turn() -> None:
    settings = Settings(on_conflict=OnConflict.REPAIR, mode=Mode.QUEUE, auto_approve=True)
    script = Shared({"a": "x", "b": "x"}, settings)
    script.answers_merges = False
    script.writes("a")
    script.conflict_merge("a", "x")
    assert script.repairing() == ["a"]


def test_without_file_conflicts_repairs_do_not_wait() -> None:
    settings = Settings(on_conflict=OnConflict.REPAIR, max_parallel=0, file_conflicts=FileConflicts.DECLARED)
    script = Shared({"a": "x", "b": "x", "c": "x"}, settings)
    for name in "abc":
        script.writes(name)
    assert script.repairing() == ["b", "c"]


@given(st.lists(st.sampled_from(FILES), min_size=2, max_size=4), st.randoms(use_true_random=False))
def test_one_repair_is_enough_for_all_that_began_together(files: list[str], rng: Random) -> None:
    script = Shared({f"t{n}": (file,) for n, file in enumerate(files)})
    assert len(script.running_tasks()) == len(files)
    while running := script.running_tasks():
        script.writes(rng.choice(running))
    assert {task.status for task in script.batch().tasks} == {"done"}


@given(
    st.lists(st.sets(st.sampled_from(FILES), min_size=1), min_size=2, max_size=7),
    st.randoms(use_true_random=False),
)
def test_no_two_repairs_at_once_share_a_file(changes: list[set[str]], rng: Random) -> None:
    script = Shared({f"t{n}": tuple(sorted(files)) for n, files in enumerate(changes)})
    while running := script.running_tasks():
        script.writes(rng.choice(running))
        held = [file for name in script.repairing() for file in script.changes[name]]
        assert len(held) == len(set(held))
    assert script.batch().ended is not None
