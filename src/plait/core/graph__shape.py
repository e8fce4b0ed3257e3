"""The shape of a plan: what is shown of it and decides nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from graphlib import TopologicalSorter
from itertools import chain

from plait.core.dependencies import DependencyRow
from plait.core.file_locks import file_of_lock
from plait.core.phases import add_phase_rows
from plait.core.plan import Conflict, Plan
from plait.core.task import Need, Task


def group_waves(plan: Plan) -> list[list[str]]:
    """Ids by distance: each task one wave after the last of its needs and, if its phase holds it, of what opens that."""
    rows = add_phase_rows(plan.tasks, plan.needs, plan.phases, early=True) if plan.phases else plan.needs
    levels = _find_levels(rows, len(plan.tasks))
    found: list[list[str]] = [[] for _ in range(max(levels, default=-1) + 1)]
    for task, level in zip(plan.tasks, levels, strict=True):
        found[level].append(task.id)
    return found


def _find_levels(rows: Sequence[DependencyRow], tasks: int) -> list[int]:
    """Gates and ends, which come after the tasks, are passed at the level of what they wait for."""
    levels = [-1] * len(rows)
    for place in TopologicalSorter(dict(enumerate(rows))).static_order():
        before = max((levels[other] for other in rows[place]), default=-1)
        levels[place] = before + 1 if place < tasks else before
    return levels[:tasks]


def find_critical_path(plan: Plan) -> list[str]:
    """The ids of a chain of needs that takes as long as the longest one; of equals the earliest in the plan."""
    dependents: list[list[int]] = [[] for _ in plan.tasks]
    for place, needs in enumerate(plan.needs):
        for before in needs:
            dependents[before].append(place)
    path = []
    choice = [place for place, needs in enumerate(plan.needs) if not needs]
    while choice:
        place = max(choice, key=lambda place: plan.ranks[place])
        path.append(plan.tasks[place].id)
        choice = dependents[place]
    return path


def list_edges(plan: Plan) -> Iterator[tuple[Task, Need]]:
    """Every edge once, with the reason that was given first."""
    ids = {task.id for task in plan.tasks}
    for task in plan.tasks:
        said: set[str] = set()
        for need in task.needs:
            if need.on in ids and need.on not in said:
                said.add(need.on)
                yield task, need


def find_file_conflicts(plan: Plan) -> list[Conflict]:
    """The files, folders and globs that two tasks or more have in common, by name."""
    counts = Counter(chain.from_iterable(plan.holds))
    shared: dict[str, list[str]] = {
        token: [] for token, count in counts.items() if count > 1 and file_of_lock(token)
    }
    for task, hold in zip(plan.tasks, plan.holds, strict=True) if shared else ():
        for token in hold:
            if token in shared:
                shared[token].append(task.id)
    # Where globs meet is worth a line only if no file, folder or glob says the same of the same tasks.
    named = {tuple(tasks) for token, tasks in shared.items() if not token.endswith("/")}
    found = {
        Conflict(file_of_lock(token) or token, tuple(tasks))
        for token, tasks in shared.items()
        if not token.endswith("/") or tuple(tasks) not in named
    }
    return sorted(found, key=lambda conflict: (conflict.file, conflict.tasks))
