"""Needs of tasks: resolved to indexes in the plan, checked for unknown ids and for cycles."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from itertools import chain, islice, pairwise

from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.task import NeedKind, Origin, Task

DependencyRow = tuple[int, ...]
MissingNeeds = dict[str, list[Task]]

# Looking for a similar id costs about a millisecond per hundred ids: beyond these bounds there is no suggestion.
_MAX_SUGGESTIONS = 5
_MAX_CANDIDATES = 2_000


class UnknownNeeds(StrEnum):
    """How to treat a need on an unknown id: sources often drop finished tasks."""

    DONE = "done"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class UnplannedTasks:
    """Tasks that are not in the plan: finished ones, and ones that were not selected."""

    finished: frozenset[str] = frozenset()
    known: frozenset[str] = frozenset()
    unknown: UnknownNeeds = UnknownNeeds.DONE
    ignore_needs: bool = False

    def unknown_id_problem(
        self, what: str, on: str, at: Origin | None, index_by_id: Iterable[str], *, suggest: bool = True
    ) -> Problem:
        """Make the error for an unknown id, with the most similar id that exists."""
        near = suggest and get_close_matches(on, islice(self._list_ids(index_by_id), _MAX_CANDIDATES), n=1)
        hint = f"Did you mean {near[0]}?" if near else "Correct the id, or treat it as finished: --unknown-needs done."
        return Problem(Severity.ERROR, f"{what}, which is not in any source", at, hint)

    def _list_ids(self, index_by_id: Iterable[str]) -> Iterator[str]:
        return chain(index_by_id, sorted(self.known), sorted(self.finished))


def resolve_needs(tasks: Sequence[Task], index_by_id: Mapping[str, int]) -> tuple[list[DependencyRow], MissingNeeds]:
    """Return each task's needs as sorted unique indexes, and for each missing id, the tasks that need it."""
    rows: list[DependencyRow] = []
    missing: MissingNeeds = {}
    for task in tasks:
        try:
            rows.append(tuple(sorted({index_by_id[need.on] for need in task.needs})))
        except KeyError:
            rows.append(tuple(sorted({index_by_id[need.on] for need in task.needs if need.on in index_by_id})))
            for on in dict.fromkeys(need.on for need in task.needs if need.on not in index_by_id):
                missing.setdefault(on, []).append(task)
    return rows, missing


def check_missing_needs(
    missing: MissingNeeds, index_by_id: Mapping[str, int], outside: UnplannedTasks
) -> list[Problem]:
    """Report one problem for each missing id that is not of a finished task."""
    problems = []
    suggestions = _MAX_SUGGESTIONS
    for on, needed_by in missing.items():
        if on in outside.finished:
            continue
        dependents, at = _describe_dependents(needed_by), describe_need(needed_by[0], on)[1]
        if on in outside.known:
            problems.append(_unselected_problem(on, dependents, at, outside))
        elif outside.unknown is UnknownNeeds.DONE:
            problems.append(_assumed_done_problem(f"{dependents} {on}", at))
        else:
            problems.append(
                outside.unknown_id_problem(f"{dependents} {on}", on, at, index_by_id, suggest=suggestions > 0)
            )
            suggestions -= 1
    return problems


def _describe_dependents(tasks: Sequence[Task]) -> str:
    return f"{tasks[0].id} needs" if len(tasks) == 1 else f"{tasks[0].id} and {len(tasks) - 1} more need"


def _unselected_problem(on: str, dependents: str, at: Origin | None, outside: UnplannedTasks) -> Problem:
    message = f"{dependents} {on}, which is neither finished nor selected"
    if outside.ignore_needs:
        return Problem(Severity.INFO, f"{message}: ignored", at)
    hint = "--with-needs adds it, --ignore-needs ignores it."
    return Problem(Severity.ERROR, message, at, hint)


def _assumed_done_problem(what: str, at: Origin | None) -> Problem:
    hint = "With --unknown-needs fail this is an error."
    return Problem(Severity.INFO, f"{what}, which is not in any source: assumed finished", at, hint)


def describe_need(task: Task, on: str) -> tuple[str, Origin | None]:
    """Return a line about `task` needing `on`, with the first reason given for it, and where that is written."""
    need = next(need for need in task.needs if need.on == on)
    verb = "follows" if need.kind is NeedKind.CHAIN else "needs"
    at = need.at or task.origin
    return f"{task.id} {verb} {on}{describe_origin(at, need.reason)}", at


def describe_origin(at: Origin | None, reason: str) -> str:
    """Format an origin as ` (file:line: "what it says")`, as far as it is known."""
    parts = [*([str(at)] if at else []), *([f'"{reason}"'] if reason else [])]
    return f" ({': '.join(parts)})" if parts else ""


DependencyRows = Sequence[Sequence[int]]  # for each node, the nodes that come before it
EdgeText = tuple[str, Origin | None]  # a line that states an edge, and where it comes from


def find_cyclic_components(rows: DependencyRows) -> list[list[int]]:
    """Find the strongly connected components that contain a cycle: each sorted, and ordered by their first node.

    Tarjan's algorithm with its own stack, so that a chain of any length is fine.
    """
    number = [0] * len(rows)  # order of the first visit; 0: not visited
    low = [0] * len(rows)
    stack: list[int] = []
    components = []
    visited = 0
    for root in range(len(rows)):
        walk = [] if number[root] else [(root, iter(rows[root]))]
        while walk:
            node, rest = walk[-1]
            if not number[node]:
                visited += 1
                number[node] = low[node] = visited
                stack.append(node)
            for other in rest:
                if not number[other]:
                    walk.append((other, iter(rows[other])))
                    break
                low[node] = min(low[node], number[other])
            else:
                walk.pop()
                if low[node] == number[node]:
                    components.append(_pop_component(stack, node, number))
                elif walk:
                    low[walk[-1][0]] = min(low[walk[-1][0]], low[node])
    return sorted(sorted(nodes) for nodes in components if len(nodes) > 1 or nodes[0] in rows[nodes[0]])


def _pop_component(stack: list[int], root: int, number: list[int]) -> list[int]:
    """Pop the root's component; its nodes get a number beyond all others, which keeps them out of later ones."""
    nodes: list[int] = []
    while not nodes or nodes[-1] != root:
        nodes.append(stack.pop())
        number[nodes[-1]] = len(number) + 1
    return nodes


def find_shortest_cycle(rows: DependencyRows, component: Sequence[int]) -> list[int]:
    """Find a shortest cycle through the component's first node, in execution order, with that node at both ends."""
    first, members = component[0], set(component)
    seen_from = {first: first}
    queue = deque([first])
    while queue:
        node = queue.popleft()
        for other in rows[node]:
            if other == first:
                path = [first, node]
                while path[-1] != first:
                    path.append(seen_from[path[-1]])
                return path
            if other in members and other not in seen_from:
                seen_from[other] = node
                queue.append(other)
    raise ValueError("no cycle runs through the first node of this component")


@dataclass(frozen=True, slots=True)
class CycleNames:
    """How to name the nodes and edges of a graph; `edge(node, before)` states why `node` waits for `before`."""

    nodes: str
    name: Callable[[int], str]
    edge: Callable[[int, int], EdgeText]
    hint: str = ""


def report_cycles(rows: DependencyRows, names: CycleNames) -> list[Problem]:
    """Report one error for each cyclic component."""
    return [
        _cycle_problem(component, find_shortest_cycle(rows, component), names)
        for component in find_cyclic_components(rows)
    ]


def _cycle_problem(component: list[int], path: list[int], names: CycleNames) -> Problem:
    edges = [names.edge(node, before) for before, node in pairwise(path)]
    alone = len(path) == 2
    lead = f"{names.name(path[0])} waits for itself" if alone else f"{names.nodes} wait for one another"
    lines = [f"{lead}: {' → '.join(map(names.name, path))}", *(f"  {line}" for line, _ in edges)]
    total = len({names.name(node) for node in component})
    if total >= len(path):
        lines.append(f"  in total, {total} {names.nodes} wait for one another")
    hint = names.hint or _cycle_hint(edges[-1][1], alone=alone)
    return Problem(Severity.ERROR, "\n".join(lines), edges[-1][1], hint)


def _cycle_hint(at: Origin | None, *, alone: bool) -> str:
    """Suggest what to change: the path begins with the earliest task, so its last edge contradicts the order."""
    where = f", at {at}," if at else ""
    if alone:
        return f"Remove that need{where.rstrip(',')}."
    return f"Remove one of these needs; the last one{where} contradicts the order of the plan."
