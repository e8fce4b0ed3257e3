"""From tasks to a checked Plan, or to every reason why there is none; and what a plan looks like as a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import chain

from plait.core import dependencies
from plait.core.fast_dataclass import dataclass
from plait.core.file_locks import assign_locks, file_of_lock, find_crowded_files
from plait.core.phases import add_phase_rows, check_phases, find_phase_contradictions
from plait.core.plan import Conflict, Plan, Problem, Severity, has_errors
from plait.core.task import Need, Phase, Task


@dataclass(frozen=True, slots=True)
class PlanCheck:
    """A plan, unless one of the problems is an error; and all problems."""

    plan: Plan | None
    problems: tuple[Problem, ...] = ()


def build_checked_plan(  # noqa: PLR0913 - what the source knows, what the person asked for, what history tells
    tasks: Sequence[Task],
    *,
    phases: Sequence[Phase] = (),
    finished: Collection[str] = (),
    known: Collection[str] = (),
    unknown: dependencies.UnknownNeeds = dependencies.UnknownNeeds.DONE,
    ignore_needs: bool = False,
    durations: Callable[[Task], float] | None = None,
) -> PlanCheck:
    """Check everything and report everything at once. `finished` and `known` are ids of the source, selected or not."""
    if not tasks:
        hint = "Name a source that has tasks, or select others with --select."
        return PlanCheck(None, (Problem(Severity.ERROR, "there are no tasks to run", hint=hint),))
    tasks, problems = _drop_duplicates(tasks)
    index_by_id = {task.id: index for index, task in enumerate(tasks)}
    outside = dependencies.UnplannedTasks(frozenset(finished), frozenset(known), unknown, ignore_needs)
    needs, missing = dependencies.resolve_needs(tasks, index_by_id)
    held, lock_problems = assign_locks(tasks, index_by_id, outside)
    phases, phase_problems = check_phases(phases, tasks, index_by_id, outside)
    problems += [
        *dependencies.check_missing_needs(missing, index_by_id, outside),
        *lock_problems,
        *phase_problems,
        *find_crowded_files(held, needs),
    ]
    ordered = sort_topologically(needs)
    if ordered is None:
        problems += _report_cycles(tasks, needs)
    elif phases and not has_errors(phase_problems) and sort_topologically(add_phase_rows(tasks, needs, phases)) is None:
        problems += find_phase_contradictions(tasks, needs, phases)
    if ordered is None or has_errors(problems):
        return PlanCheck(None, tuple(problems))
    ranks = _rank_tasks(ordered, needs, [durations(task) if durations else task.expected_seconds for task in tasks])
    return PlanCheck(Plan(tuple(tasks), tuple(needs), tuple(held), tuple(ranks), phases), tuple(problems))


def _drop_duplicates(tasks: Sequence[Task]) -> tuple[Sequence[Task], list[Problem]]:
    """Return the first task of each id, and an error for each duplicate id."""
    if len({task.id for task in tasks}) == len(tasks):
        return tasks, []
    by_id: dict[str, list[Task]] = {}
    for task in tasks:
        by_id.setdefault(task.id, []).append(task)
    problems = []
    for name, same in by_id.items():
        if len(same) > 1:
            origins = " and ".join(str(task.origin or "an unknown place") for task in same)
            message = f"{len(same)} tasks are called {name}: {origins}"
            problems.append(Problem(Severity.ERROR, message, same[1].origin, "Give each of them an id of its own."))
    return [same[0] for same in by_id.values()], problems


def sort_topologically(rows: Sequence[dependencies.DependencyRow]) -> list[int] | None:
    """Return the indexes in execution order; None if there is a cycle."""
    try:
        return list(TopologicalSorter(dict(enumerate(rows))).static_order())
    except CycleError:
        return None


def _report_cycles(tasks: Sequence[Task], needs: Sequence[dependencies.DependencyRow]) -> list[Problem]:
    def edge(node: int, before: int) -> dependencies.EdgeText:
        return dependencies.describe_need(tasks[node], tasks[before].id)

    return dependencies.report_cycles(needs, dependencies.CycleNames("tasks", lambda node: tasks[node].id, edge))


def _rank_tasks(
    ordered: Sequence[int], needs: Sequence[dependencies.DependencyRow], durations: Sequence[float]
) -> list[float]:
    """Return the longest path from each task's start to the end, in seconds."""
    after = [0.0] * len(needs)
    ranks = [0.0] * len(needs)
    for index in reversed(ordered):
        ranks[index] = rank = after[index] + durations[index]
        for before in needs[index]:
            after[before] = max(after[before], rank)
    return ranks


def group_waves(plan: Plan) -> list[list[str]]:
    """Group ids by depth: a task is one wave after its needs and, if its phase holds it, after what opens that."""
    rows = add_phase_rows(plan.tasks, plan.needs, plan.phases, early=True) if plan.phases else plan.needs
    levels = _find_levels(rows, len(plan.tasks))
    waves: list[list[str]] = [[] for _ in range(max(levels, default=-1) + 1)]
    for task, level in zip(plan.tasks, levels, strict=True):
        waves[level].append(task.id)
    return waves


def _find_levels(rows: Sequence[dependencies.DependencyRow], tasks: int) -> list[int]:
    """Return the depth of each task. Phase gates and ends, whose rows come after the tasks', add no level of their own."""
    levels = [-1] * len(rows)
    for index in TopologicalSorter(dict(enumerate(rows))).static_order():
        before = max((levels[other] for other in rows[index]), default=-1)
        levels[index] = before + 1 if index < tasks else before
    return levels[:tasks]


def find_critical_path(plan: Plan) -> list[str]:
    """Return the ids along the longest chain of needs; of equal chains, the earliest in the plan."""
    dependents: list[list[int]] = [[] for _ in plan.tasks]
    for index, needs in enumerate(plan.needs):
        for before in needs:
            dependents[before].append(index)
    path = []
    choice = [index for index, needs in enumerate(plan.needs) if not needs]
    while choice:
        index = max(choice, key=lambda index: plan.ranks[index])
        path.append(plan.tasks[index].id)
        choice = dependents[index]
    return path


def list_edges(plan: Plan) -> Iterator[tuple[Task, Need]]:
    """Yield every edge once, with the first reason given for it."""
    ids = {task.id for task in plan.tasks}
    for task in plan.tasks:
        seen: set[str] = set()
        for need in task.needs:
            if need.on in ids and need.on not in seen:
                seen.add(need.on)
                yield task, need


def find_file_conflicts(plan: Plan) -> list[Conflict]:
    """List the files, folders and globs that two or more tasks have in common, sorted by name."""
    counts = Counter(chain.from_iterable(plan.holds))
    shared: dict[str, list[str]] = {lock: [] for lock, count in counts.items() if count > 1 and file_of_lock(lock)}
    for task, hold in zip(plan.tasks, plan.holds, strict=True) if shared else ():
        for lock in hold:
            if lock in shared:
                shared[lock].append(task.id)
    # Overlapping globs are listed only if no file, folder or glob is shared by the same tasks.
    named = {tuple(tasks) for lock, tasks in shared.items() if not lock.endswith("/")}
    conflicts = {
        Conflict(file_of_lock(lock) or lock, tuple(tasks))
        for lock, tasks in shared.items()
        if not lock.endswith("/") or tuple(tasks) not in named
    }
    return sorted(conflicts, key=lambda conflict: (conflict.file, conflict.tasks))
