"""Where a task is at home."""

from __future__ import annotations

from pathlib import Path

from plait.core.task import Attempt, Step, make_gate_attempt
from plait.runtime.ray.needs import Needs
from plait.runtime.ray.placements import Placement, Placements
from plait.system.state_paths import StateFolder


def write(n: int) -> Attempt:
    return Attempt("batch", "task", Step.WRITE, n)


def test_it_is_where_the_agent_worked_last_for_the_next_engine_too(tmp_path: Path) -> None:
    placements = Placements(StateFolder(tmp_path))
    check = Attempt("batch", "task", Step.VERIFY, 11)
    for attempt, node in ((write(2), "two"), (write(10), "ten"), (write(9), "nine"), (check, "check")):
        placements.write(Placement(attempt, node, code=0))
    needs = Needs(placements)
    assert needs.find_home(write(11)) == "ten"
    needs.place(check, "check")
    assert needs.find_home(write(11)) == "ten"
    needs.place(write(11), "eleven")
    assert needs.find_home(check) == "eleven"
    needs.lose_node("eleven")
    assert needs.find_home(write(12)) == ""


def test_a_task_that_has_ended_takes_no_memory(tmp_path: Path) -> None:
    needs = Needs(Placements(StateFolder(tmp_path)))
    needs.place(write(1), "one")
    needs.place(make_gate_attempt("batch", 1), "two")
    needs.forget_home("batch", "task")
    assert needs.find_home(make_gate_attempt("batch", 2)) == "two"
    assert needs.find_home(write(2)) == ""
