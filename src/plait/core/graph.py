"""The graph: from tasks to a checked Plan, or to all the reasons why there is none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from graphlib import CycleError, TopologicalSorter

from plait.core import dependencies__cycles
from plait.core.dependencies import (
    DependencyRow,
    UnknownNeeds,
    UnplannedTasks,
    check_missing_needs,
    describe_need,
    resolve_needs,
)
from plait.core.fast_dataclass import dataclass
from plait.core.file_locks import assign_locks, find_crowded_files
from plait.core.phases import add_phase_rows, check_phases, find_phase_contradictions
from plait.core.plan import Plan, Problem, Severity
from plait.core.task import Phase, Task

__all__ = ["PlanCheck", "UnknownNeeds", "build_checked_plan"]


@dataclass(frozen=True, slots=True)
class PlanCheck:
    """There is a plan unless one of the problems is an error."""

    plan: Plan | None
    problems: tuple[Problem, ...] = ()


def build_checked_plan(  # noqa: PLR0913 - what the source knows, what the person asked for, what history tells
    tasks: Sequence[Task],
    *,
    phases: Sequence[Phase] = (),
    finished: Collection[str] = (),
    known: Collection[str] = (),
    unknown: UnknownNeeds = UnknownNeeds.DONE,
    ignore_needs: bool = False,
    durations: Callable[[Task], float] | None = None,
) -> PlanCheck:
    """Check everything and report everything at once. `finished` and `known` are ids of the source, selected or not."""
    if not tasks:
        hint = "Name a source that has tasks, or select others with --select."
        return PlanCheck(None, (Problem(Severity.ERROR, "there are no tasks to run", hint=hint),))
    tasks, problems = _drop_duplicates(tasks)
    index = {task.id: place for place, task in enumerate(tasks)}
    outside = UnplannedTasks(frozenset(finished), frozenset(known), unknown, ignore_needs)
    needs, missing = resolve_needs(tasks, index)
    held, clashes = assign_locks(tasks, index, outside)
    phases, disorder = check_phases(phases, tasks, index, outside)
    problems += [
        *check_missing_needs(missing, index, outside),
        *clashes,
        *disorder,
        *find_crowded_files(held, needs),
    ]
    ordered = _sort_topologically(needs)
    if ordered is None:
        problems += _report_cycles(tasks, needs)
    elif (
        phases
        and not _has_errors(disorder)
        and _sort_topologically(add_phase_rows(tasks, needs, phases)) is None
    ):
        problems += find_phase_contradictions(tasks, needs, phases)
    if ordered is None or _has_errors(problems):
        return PlanCheck(None, tuple(problems))
    ranks = _rank_tasks(
        ordered, needs, [durations(task) if durations else task.expected_seconds for task in tasks]
    )
    return PlanCheck(Plan(tuple(tasks), tuple(needs), tuple(held), tuple(ranks), phases), tuple(problems))


def _drop_duplicates(tasks: Sequence[Task]) -> tuple[Sequence[Task], list[Problem]]:
    """The first task of each id, and an error for each id that is there more than once."""
    if len({task.id for task in tasks}) == len(tasks):
        return tasks, []
    by_id: dict[str, list[Task]] = {}
    for task in tasks:
        by_id.setdefault(task.id, []).append(task)
    problems = []
    for name, same in by_id.items():
        if len(same) > 1:
            places = " and ".join(str(task.origin or "an unknown place") for task in same)
            message = f"{len(same)} tasks are called {name}: {places}"
            problems.append(
                Problem(Severity.ERROR, message, same[1].origin, "Give each of them an id of its own.")
            )
    return [same[0] for same in by_id.values()], problems


def _sort_topologically(rows: Sequence[DependencyRow]) -> list[int] | None:
    """What comes before, first; None if there is a cycle."""
    try:
        return list(TopologicalSorter(dict(enumerate(rows))).static_order())
    except CycleError:
        return None


def _report_cycles(tasks: Sequence[Task], needs: Sequence[DependencyRow]) -> list[Problem]:
    def edge(place: int, before: int) -> dependencies__cycles.EdgeText:
        return describe_need(tasks[place], tasks[before].id)

    return dependencies__cycles.report_cycles(needs, lambda place: tasks[place].id, edge, what="tasks")


def _has_errors(problems: Sequence[Problem]) -> bool:
    return any(problem.severity is Severity.ERROR for problem in problems)


def _rank_tasks(
    ordered: Sequence[int], needs: Sequence[DependencyRow], durations: Sequence[float]
) -> list[float]:
    """The longest path from each task's start to the end, in seconds."""
    after = [0.0] * len(needs)
    ranks = [0.0] * len(needs)
    for place in reversed(ordered):
        ranks[place] = rank = after[place] + durations[place]
        for before in needs[place]:
            after[before] = max(after[before], rank)
    return ranks
