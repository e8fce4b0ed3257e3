"""The graph: from tasks to a checked Plan, or to all the reasons why there is none."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from graphlib import CycleError, TopologicalSorter

from plait.core import cycles
from plait.core.frozen import dataclass
from plait.core.holds import crowds, holds
from plait.core.needs import Outside, Row, UnknownNeeds, judge, resolve, said
from plait.core.phases import check, contradictions, gated
from plait.core.plan import Plan, Problem, Severity
from plait.core.task import Phase, Task

__all__ = ["Checked", "UnknownNeeds", "build"]


@dataclass(frozen=True, slots=True)
class Checked:
    """There is a plan unless one of the problems is an error."""

    plan: Plan | None
    problems: tuple[Problem, ...] = ()


def build(  # noqa: PLR0913 - what the source knows, what the person asked for, what history tells
    tasks: Sequence[Task],
    *,
    phases: Sequence[Phase] = (),
    finished: Collection[str] = (),
    known: Collection[str] = (),
    unknown: UnknownNeeds = UnknownNeeds.DONE,
    ignore_needs: bool = False,
    durations: Callable[[Task], float] | None = None,
) -> Checked:
    """Check everything and report everything at once. `finished` and `known` are ids of the source, selected or not."""
    if not tasks:
        hint = "Name a source that has tasks, or select others with --select."
        return Checked(None, (Problem(Severity.ERROR, "there are no tasks to run", hint=hint),))
    tasks, problems = _distinct(tasks)
    index = {task.id: place for place, task in enumerate(tasks)}
    outside = Outside(frozenset(finished), frozenset(known), unknown, ignore_needs)
    needs, missing = resolve(tasks, index)
    held, clashes = holds(tasks, index, outside)
    phases, disorder = check(phases, tasks, index, outside)
    problems += [*judge(missing, index, outside), *clashes, *disorder, *crowds(held, needs)]
    ordered = _order(needs)
    if ordered is None:
        problems += _cycles(tasks, needs)
    elif phases and not _failed(disorder) and _order(gated(tasks, needs, phases)) is None:
        problems += contradictions(tasks, needs, phases)
    if ordered is None or _failed(problems):
        return Checked(None, tuple(problems))
    ranks = _ranks(ordered, needs, [durations(task) if durations else task.expected for task in tasks])
    return Checked(Plan(tuple(tasks), tuple(needs), tuple(held), tuple(ranks), phases), tuple(problems))


def _distinct(tasks: Sequence[Task]) -> tuple[Sequence[Task], list[Problem]]:
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


def _order(rows: Sequence[Row]) -> list[int] | None:
    """What comes before, first; None if there is a cycle."""
    try:
        return list(TopologicalSorter(dict(enumerate(rows))).static_order())
    except CycleError:
        return None


def _cycles(tasks: Sequence[Task], needs: Sequence[Row]) -> list[Problem]:
    def edge(place: int, before: int) -> cycles.Said:
        return said(tasks[place], tasks[before].id)

    return cycles.report(needs, lambda place: tasks[place].id, edge, what="tasks")


def _failed(problems: Sequence[Problem]) -> bool:
    return any(problem.severity is Severity.ERROR for problem in problems)


def _ranks(ordered: Sequence[int], needs: Sequence[Row], durations: Sequence[float]) -> list[float]:
    """The longest path from each task's start to the end, in seconds."""
    after = [0.0] * len(needs)
    ranks = [0.0] * len(needs)
    for place in reversed(ordered):
        ranks[place] = rank = after[place] + durations[place]
        for before in needs[place]:
            after[before] = max(after[before], rank)
    return ranks
