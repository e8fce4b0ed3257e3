"""Capacity and scheduler together: what is started fits, and what would fit is started."""

from __future__ import annotations

from collections.abc import Iterator

from hypothesis import given, strategies as st

from plait.core.capacity import (
    GIB,
    MIB,
    NO_BOUND,
    MachineReadings,
    find_capacity_change,
    measure_demand,
    reserved_memory,
)
from plait.core.decisions import AttemptStarted
from plait.core.reports import AttemptExited, Outcome, Report
from plait.core.scheduler.rules import decide_due, fold_incoming
from plait.core.settings import Isolation, Settings
from plait.core.status import Category
from plait.core.task import Attempt, Task
from plait.testing.script import Script


class SharedMachine:
    """A machine with memory and an engine on it that asks the survey before it decides."""

    def __init__(self, total: int, tasks: int) -> None:
        names = [Task(f"t{n}", agent=("claude", "shell")[n % 2]) for n in range(tasks)]
        self.script = Script(start=False)
        self.total, self.others = total, 0
        self.sizes: dict[Attempt, int] = {}
        self.script.apply(find_capacity_change(self.script.state, self.readings, {}) or NO_BOUND)
        self.script.submit(*names, settings=Settings(isolation=Isolation.IN_PLACE, max_parallel=0))
        self.sizes.update(dict.fromkeys(self.alive, 0))

    @property
    def alive(self) -> list[Attempt]:
        return list(self.script.batch().alive)

    @property
    def readings(self) -> MachineReadings:
        left = self.total - self.others - sum(self.sizes.values())
        return MachineReadings(max(0, left), self.total, 90 * GIB, 500 * GIB, load=1.0, cores=8)

    @property
    def spare(self) -> int:
        """What is left when all that runs has grown."""
        growth = measure_demand(self.script.state, self.sizes).growth
        return self.readings.memory - reserved_memory(self.total) - growth

    def step(self, *reports: Report) -> int:
        """How many were started."""
        state, now = self.script.state, self.script.now
        fold_incoming(state, reports, now)
        change = find_capacity_change(state, self.readings, self.sizes)
        fold_incoming(state, [change] if change is not None else [], now)
        decided, _ = decide_due(state, now)
        new = [record.event.attempt for record in decided if isinstance(record.event, AttemptStarted)]
        self.sizes |= dict.fromkeys(new, 0)
        return len(new)


def steps() -> st.SearchStrategy[list[tuple[str, int, float]]]:
    kinds = st.sampled_from(["grow", "exit", "others"])
    return st.lists(st.tuples(kinds, st.integers(0, 9), st.floats(0, 1)), max_size=40)


@given(st.integers(1, 12), steps())
def test_tasks_start_exactly_while_they_fit_into_memory(gibs: int, happenings: list[tuple[str, int, float]]) -> None:
    machine = SharedMachine(gibs * GIB, tasks=12)
    for reports in _apply_step(machine, happenings):
        started = machine.step(*reports)
        while started:
            assert len(machine.alive) == 1 or machine.spare >= 0
            started = machine.step()
        waits = any(machine.script.state.start_queue.heads("b1"))
        roomy = machine.spare >= 1.25 * measure_demand(machine.script.state, machine.sizes).footprint
        assert not (waits and roomy and len(machine.alive) < 4)
        assert machine.alive or not waits or machine.readings.memory < 512 * MIB


def _apply_step(machine: SharedMachine, happenings: list[tuple[str, int, float]]) -> Iterator[list[Report]]:
    yield []
    for kind, which, share in happenings:
        name = machine.alive[which % len(machine.alive)] if machine.alive else None
        reports: list[Report] = []
        if kind == "others":
            machine.others = int(machine.total * share)
        elif name is not None and kind == "grow":
            machine.sizes[name] = int(600 * MIB * share)
        elif name is not None:
            reports.append(AttemptExited(name, Outcome(Category.OK, 0, peak=machine.sizes.pop(name))))
        yield reports
