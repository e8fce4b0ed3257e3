"""Cycles: which tasks wait for one another, along which path, and the lines that say so."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import pairwise

from plait.core.plan import Problem, Severity
from plait.core.task import Origin

DependencyRows = Sequence[Sequence[int]]  # for each place, the places that come before it
EdgeText = tuple[str, Origin | None]  # a line that states an edge, and where it was said


def find_cyclic_components(rows: DependencyRows) -> list[list[int]]:
    """The strongly connected components that hold a cycle, each in order, by their first place.

    Tarjan's algorithm with its own stack: a chain of any length is fine.
    """
    number = [0] * len(rows)  # the order of meeting; 0 is not met yet
    low = [0] * len(rows)
    stack: list[int] = []
    found = []
    met = 0
    for root in range(len(rows)):
        walk = [] if number[root] else [(root, iter(rows[root]))]
        while walk:
            place, rest = walk[-1]
            if not number[place]:
                met += 1
                number[place] = low[place] = met
                stack.append(place)
            for other in rest:
                if not number[other]:
                    walk.append((other, iter(rows[other])))
                    break
                low[place] = min(low[place], number[other])
            else:
                walk.pop()
                if low[place] == number[place]:
                    found.append(_pop_component(stack, place, number))
                elif walk:
                    low[walk[-1][0]] = min(low[walk[-1][0]], low[place])
    return sorted(sorted(places) for places in found if len(places) > 1 or places[0] in rows[places[0]])


def _pop_component(stack: list[int], root: int, number: list[int]) -> list[int]:
    """Take the root's component off the stack; a number beyond all others keeps it out of later ones."""
    places: list[int] = []
    while not places or places[-1] != root:
        places.append(stack.pop())
        number[places[-1]] = len(number) + 1
    return places


def find_shortest_cycle(rows: DependencyRows, component: Sequence[int]) -> list[int]:
    """A shortest cycle through the component's first place, in the order of work, that place at both ends."""
    first, members = component[0], set(component)
    seen_from = {first: first}
    queue = deque([first])
    while queue:
        place = queue.popleft()
        for other in rows[place]:
            if other == first:
                path = [first, place]
                while path[-1] != first:
                    path.append(seen_from[path[-1]])
                return path
            if other in members and other not in seen_from:
                seen_from[other] = place
                queue.append(other)
    raise ValueError("no cycle runs through the first place of this component")


def report_cycles(
    rows: DependencyRows,
    name: Callable[[int], str],
    edge: Callable[[int, int], EdgeText],
    *,
    what: str,
    hint: str = "",
) -> list[Problem]:
    """One error for each cyclic component. `edge(place, before)` states the edge between the two."""
    return [
        _cycle_problem(component, find_shortest_cycle(rows, component), name, edge, what, hint)
        for component in find_cyclic_components(rows)
    ]


def _cycle_problem(  # noqa: PLR0913, PLR0917 - the parts of one sentence
    component: list[int],
    path: list[int],
    name: Callable[[int], str],
    edge: Callable[[int, int], EdgeText],
    what: str,
    hint: str,
) -> Problem:
    edges = [edge(place, before) for before, place in pairwise(path)]
    alone = len(path) == 2
    lead = f"{name(path[0])} waits for itself" if alone else f"{what} wait for one another"
    lines = [f"{lead}: {' → '.join(map(name, path))}", *(f"  {line}" for line, _ in edges)]
    tangled = len({name(place) for place in component})
    if tangled >= len(path):
        lines.append(f"  {tangled} {what} are tied up with one another in all")
    return Problem(
        Severity.ERROR, "\n".join(lines), edges[-1][1], hint or _cycle_hint(edges[-1][1], alone=alone)
    )


def _cycle_hint(at: Origin | None, *, alone: bool) -> str:
    """The path begins with the earliest task, so its last edge is the one that goes against the written order."""
    where = f", at {at}," if at else ""
    return (
        f"Take that need out{where.rstrip(',')}."
        if alone
        else (f"Take one of these needs out; the last one{where} goes against the order of the plan.")
    )
