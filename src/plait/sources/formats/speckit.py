"""What the tasks of a spec-kit file wait for: the written order of their phase, and what the file says in words."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import field
from itertools import product

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem
from plait.core.task import Need, NeedKind, Origin
from plait.sources.formats.speckit__said import find_order_statements
from plait.sources.formats.speckit_grammar import Key, OrderStatement, SpecKitRange, id_sort_key
from plait.sources.formats.speckit_grammar__tasks import ListedTask
from plait.sources.problem_reports import make_info, make_warning
from plait.sources.source_model import Document

_MAX_EDGES = (
    50_000  # edges that statements may make: a range of hundreds before a range of hundreds is a slip
)


@dataclass
class SpecKitNeeds:
    """The needs of each task, by its place. `ranks`: the phase that each is in, counted from 0; None is no phase."""

    document: Document
    tasks: Sequence[ListedTask]
    ranks: Sequence[int | None]
    problems: list[Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._needs: list[dict[str, Need]] = [{} for _ in self.tasks]
        self._ids = _TaskIds(self.tasks)
        self._points = list(_count_points(self.tasks, self.ranks))
        edges = 0
        for order in find_order_statements(self.document, self.tasks):
            edges += self._add_statement(order)
            if edges > _MAX_EDGES:
                message = "the statements about order from here on are not read: there are too many"
                self.problems.append(make_warning(self.document, order.line, message, "Let phases say it."))
                break
        for later, earlier, why in _iter_written_order(self.tasks, self.ranks):
            self._add(later, self.tasks[earlier].id, NeedKind.CHAIN, why, self.tasks[later].block.head)

    def __getitem__(self, place: int) -> tuple[Need, ...]:
        return tuple(self._needs[place].values())

    def _add(self, place: int, on: str, kind: NeedKind, why: str, line: int) -> None:
        if on != self.tasks[place].id:
            need = Need(on, kind, why, Origin(self.document.path, line + 1))
            self._needs[place].setdefault(on, need)

    def _add_statement(self, order: OrderStatement) -> int:
        """How many edges came of it."""
        earlier, later = (
            [name for ref in side for name in self._ids.names(ref)] for side in (order.earlier, order.later)
        )
        count = len(earlier) * len(later)
        for on, name in product(earlier, later) if count <= _MAX_EDGES else ():
            place = self._ids.place(name)
            if place is None:
                message = f"{name} is said to come after {on}, but no task here has that id"
                self.problems.append(make_info(self.document, order.line, message))
            elif not self._contradicts(place, on):
                self._add(place, on, NeedKind.NEED, order.text, order.line)
            else:
                self.problems.append(self._report_contradiction(order, name, on))
        return count

    def _contradicts(self, place: int, on: str) -> bool:
        """Whether the file's own order has `on` after this task: in a later phase, or past a task without [P]."""
        other = self._ids.place(on)
        if other is None or other == place:
            return False
        mine, its = self.ranks[place], self.ranks[other]
        if mine != its:
            return mine is not None and its is not None and its > mine
        between = self._points[other] - self._points[place] + (not self.tasks[other].parallel)
        return other > place and between > 0

    def _report_contradiction(self, order: OrderStatement, name: str, on: str) -> Problem:
        message = (
            f'"{order.text}" has {name} after {on}, which is written further down: the written order counts'
        )
        return make_warning(self.document, order.line, message, f"Move {on} above {name}, or take that out.")


def _count_points(tasks: Sequence[ListedTask], ranks: Sequence[int | None]) -> Iterator[int]:
    """For each task, how many without [P] stand above it in its phase."""
    counts: dict[int | None, int] = {}
    for task, rank in zip(tasks, ranks, strict=True):
        yield counts.get(rank, 0)
        counts[rank] = counts.get(rank, 0) + (not task.parallel)


def _iter_written_order(
    tasks: Sequence[ListedTask], ranks: Sequence[int | None]
) -> Iterator[tuple[int, int, str]]:
    """Who follows whom, in as few edges as will do: a task without [P] follows the run of those with [P] above it, or the
    last one without; one with [P] follows the last one without.
    """
    points: dict[int | None, list[int]] = {}
    runs: dict[int | None, list[int]] = {}
    for place, (task, rank) in enumerate(zip(tasks, ranks, strict=True)):
        point, run = points.get(rank, []), runs.setdefault(rank, [])
        if task.parallel:
            yield from ((place, other, "written below a task without [P]") for other in point)
            run.append(place)
        else:
            yield from ((place, other, "written order: it has no [P]") for other in run or point)
            points[rank], runs[rank] = [place], []


class _TaskIds:
    """The ids of a file, whatever their case; ranges are over those that exist."""

    def __init__(self, tasks: Sequence[ListedTask]) -> None:
        self._tasks = tasks
        self._places: dict[str, int] = {}
        for place, task in enumerate(tasks):
            self._places.setdefault(task.id.lower(), place)
        self._sorted = sorted((id_sort_key(task.id), place) for place, task in enumerate(tasks))

    def place(self, name: str) -> int | None:
        return self._places.get(name.lower())

    def names(self, ref: SpecKitRange) -> Iterator[str]:
        if not ref.last:
            place = self.place(ref.first)
            yield f"T{ref.first[1:]}" if place is None else self._tasks[place].id
            return
        low, high = sorted((id_sort_key(ref.first), id_sort_key(ref.last)))
        for _, place in self._sorted[bisect_left(self._sorted, (low, -1)) :]:
            if not _is_within(id_sort_key(self._tasks[place].id), high):
                return
            yield self._tasks[place].id


def _is_within(name: Key, high: Key) -> bool:
    """T007a and T007.1 are within a range up to T007."""
    return name <= high or (name[0] == high[0] and not high[1] and not high[2])
