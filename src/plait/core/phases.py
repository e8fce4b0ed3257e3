"""Phases of a plan: checked, and seen as a graph in which every phase has a gate and an end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from plait.core import dependencies
from plait.core.plan import Problem, Severity
from plait.core.task import NeedKind, Phase, Task


def is_held_by_phase(task: Task, phase: Phase) -> bool:
    """Whether the task waits for its phase to open. It does unless it states its own needs, finished or not.

    A phase that asks for a share of its own is a barrier, and holds all its tasks.
    """
    return phase.gate is not None or all(need.kind is not NeedKind.NEED for need in task.needs)


def check_phases(
    phases: Sequence[Phase], tasks: Sequence[Task], index_by_id: Mapping[str, int], outside: dependencies.UnplannedTasks
) -> tuple[tuple[Phase, ...], list[Problem]]:
    """Return the phases as the plan keeps them: totals cover the tasks at hand, and `opens_with` is a task of the plan.

    A phase that opens with a finished task is open: it keeps neither `opens_with` nor `after`.
    """
    keys = {phase.key: index for index, phase in enumerate(phases)}
    problems = [*_check_task_phases(tasks, keys), *_check_phase_order(phases, keys)]
    counted = Counter(task.phase for task in tasks if task.gating)
    checked = []
    for phase in phases:
        resolved, opener_problems = _resolve_opener(phase, index_by_id, outside)
        problems += opener_problems
        checked.append(replace(resolved, total=max(phase.total, phase.settled + counted[phase.key])))
    return tuple(checked), problems


def _check_task_phases(tasks: Sequence[Task], keys: Mapping[str, int]) -> list[Problem]:
    first: dict[str, Task] = {}
    for task in tasks:
        if task.phase is not None and task.phase not in keys:
            first.setdefault(task.phase, task)
    return [
        Problem(Severity.ERROR, f"{task.id} is part of phase {phase}, which does not exist", task.origin)
        for phase, task in first.items()
    ]


def _check_phase_order(phases: Sequence[Phase], keys: Mapping[str, int]) -> list[Problem]:
    """Report phases of the same name, phases after unknown ones, and phases that wait for one another."""
    problems = [
        Problem(Severity.ERROR, f"there are two phases called {phase.key}", phase.at, "Rename one of them.")
        for node, phase in enumerate(phases)
        if keys[phase.key] != node
    ]
    problems += [
        Problem(Severity.ERROR, f"phase {phase.key} comes after phase {key}, which does not exist", phase.at)
        for phase in phases
        for key in phase.after
        if key not in keys
    ]
    rows = [tuple(keys[key] for key in phase.after if key in keys) for phase in phases]

    def name(node: int) -> str:
        return f"phase {phases[node].key}"

    def edge(node: int, before: int) -> dependencies.EdgeText:
        return _describe_wait(phases[node], name(before)), phases[node].at

    return problems + dependencies.report_cycles(
        rows, dependencies.CycleNames("phases", name, edge, "Let one of them come first.")
    )


def _describe_wait(phase: Phase, what: str) -> str:
    return f"phase {phase.key} waits for {what}{dependencies.describe_origin(phase.at, phase.reason)}"


def _resolve_opener(
    phase: Phase, index_by_id: Mapping[str, int], outside: dependencies.UnplannedTasks
) -> tuple[Phase, list[Problem]]:
    task = phase.opens_with
    if task is None or task in index_by_id:
        return phase, []
    if task in outside.finished:
        return replace(phase, opens_with=None, after=()), []
    what = f"phase {phase.key} opens with {task}"
    if task in outside.known:
        message = f"{what}, which is neither finished nor selected: it waits for the earlier phases"
        return replace(phase, opens_with=None), [Problem(Severity.INFO, message, phase.at)]
    if outside.unknown is dependencies.UnknownNeeds.FAIL:
        return phase, [outside.unknown_id_problem(what, task, phase.at, index_by_id)]
    message = f"{what}, which is not in any source: assumed finished, so the phase is open"
    return replace(phase, opens_with=None, after=()), [Problem(Severity.INFO, message, phase.at)]


def add_phase_rows(
    tasks: Sequence[Task], needs: Sequence[dependencies.DependencyRow], phases: Sequence[Phase], *, early: bool = False
) -> list[dependencies.DependencyRow]:
    """Return the needs, then two rows for each phase: its gate (the ends it waits for) and its end (the tasks it
    counts).

    A gate waits here for the task that opens it and for all earlier ones, so a plan that is in order like this runs to
    its end whatever share is asked for and however tasks end. With `early`, the task that opens it is enough.
    """
    gate = {phase.key: len(tasks) + 2 * index for index, phase in enumerate(phases)}
    by_key = {phase.key: phase for phase in phases}
    counted: dict[str, list[int]] = {phase.key: [] for phase in phases}
    rows = list(needs)
    for index, task in enumerate(tasks):
        if task.phase is not None and is_held_by_phase(task, by_key[task.phase]):
            rows[index] = (*needs[index], gate[task.phase])
        if task.phase is not None and task.gating:
            counted[task.phase].append(index)
    openers = {phase.opens_with for phase in phases}
    opener_indexes = {task.id: index for index, task in enumerate(tasks) if task.id in openers}
    for phase in phases:
        opener = (opener_indexes[phase.opens_with],) if phase.opens_with in opener_indexes else ()
        ends = tuple(gate[key] + 1 for key in phase.after)
        rows.append(opener if early and opener else opener + ends)
        rows.append(tuple(counted[phase.key]))
    return rows


def find_phase_contradictions(
    tasks: Sequence[Task], needs: Sequence[dependencies.DependencyRow], phases: Sequence[Phase]
) -> list[Problem]:
    """Report tasks that need, directly or not, a task that their own phase must come before."""
    size = len(tasks)

    def name(node: int) -> str:
        return tasks[node].id if node < size else f"phase {phases[(node - size) // 2].key}"

    def edge(node: int, before: int) -> dependencies.EdgeText:
        if node < size and before < size:
            return dependencies.describe_need(tasks[node], tasks[before].id)
        if node >= size and (node - size) % 2 == 0:
            phase = phases[(node - size) // 2]
            return _describe_wait(phase, name(before)), phase.at
        task, phase_name = (tasks[node], name(before)) if node < size else (tasks[before], name(node))
        return f"{task.id} is part of {phase_name}", task.origin

    hint = "Remove the need, or give the later task needs of its own: then it does not wait for its phase."
    return dependencies.report_cycles(
        add_phase_rows(tasks, needs, phases), dependencies.CycleNames("tasks and phases", name, edge, hint)
    )
