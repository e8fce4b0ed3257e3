from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from plait.core.dependencies import (
    CycleNames,
    DependencyRows,
    EdgeText,
    find_cyclic_components,
    find_shortest_cycle,
    report_cycles,
)
from plait.core.task import Origin


@st.composite
def graphs(draw: st.DrawFn) -> list[tuple[int, ...]]:
    size = draw(st.integers(1, 9))
    places = st.integers(0, size - 1)
    return [tuple(sorted(draw(st.sets(places, max_size=3)))) for _ in range(size)]


def reachable(rows: DependencyRows) -> list[set[int]]:
    """From each place, what can be reached in one step or more."""
    reach = [set(row) for row in rows]
    for _ in rows:
        for found in reach:
            found.update(*(reach[other] for other in list(found)))
    return reach


def shortest(rows: DependencyRows, place: int) -> int:
    steps, layer = 1, set(rows[place])
    while place not in layer:
        steps, layer = steps + 1, {other for near in layer for other in rows[near]}
    return steps


@given(graphs())
def test_cyclic_components_are_the_sets_of_places_that_reach_one_another(rows: DependencyRows) -> None:
    reach = reachable(rows)
    knots = {
        tuple(other for other in sorted(reach[place]) if place in reach[other])
        for place in range(len(rows))
        if place in reach[place]
    }

    assert find_cyclic_components(rows) == sorted(map(list, knots))


@given(graphs())
def test_a_loop_is_a_shortest_real_cycle_through_the_first_place(rows: DependencyRows) -> None:
    for component in find_cyclic_components(rows):
        path = find_shortest_cycle(rows, component)

        assert path[0] == path[-1] == min(component)
        assert all(before in rows[place] for before, place in pairwise(path))
        assert len(path) - 1 == shortest(rows, path[0])


def test_a_chain_or_ring_of_any_length_needs_no_recursion() -> None:
    size = 20_000
    chain = [(place - 1,) if place else () for place in range(size)]
    ring = [((place - 1) % size,) for place in range(size)]

    assert find_cyclic_components(chain) == []
    assert find_cyclic_components(ring) == [list(range(size))]
    assert find_shortest_cycle(ring, range(size)) == [*range(size), 0]


def test_find_shortest_cycle_expects_a_component_with_a_cycle() -> None:
    with pytest.raises(ValueError, match="no cycle"):
        find_shortest_cycle([(), (0,)], [1])


def format_problems(rows: DependencyRows) -> list[str]:
    def edge(place: int, before: int) -> EdgeText:
        return f"{place} after {before}", Origin("plan", place + 1)

    return [f"{problem.message}\n{problem.hint}" for problem in report_cycles(rows, CycleNames("tasks", str, edge))]


def test_each_cycle_is_reported_with_its_path_and_its_lines() -> None:
    assert format_problems([(2,), (0,), (1,), (4,), (3,), (5,), (5,)]) == [
        (
            "tasks wait for one another: 0 → 1 → 2 → 0\n"
            "  1 after 0\n"
            "  2 after 1\n"
            "  0 after 2\n"
            "Remove one of these needs; the last one, at plan:1, contradicts the order of the plan."
        ),
        (
            "tasks wait for one another: 3 → 4 → 3\n"
            "  4 after 3\n"
            "  3 after 4\n"
            "Remove one of these needs; the last one, at plan:4, contradicts the order of the plan."
        ),
        "5 waits for itself: 5 → 5\n  5 after 5\nRemove that need, at plan:6.",
    ]


def test_a_component_wider_than_the_cycle_shown_says_how_many_are_in_it() -> None:
    (message,) = format_problems([(1,), (0, 2), (1,)])

    assert message.splitlines()[0] == "tasks wait for one another: 0 → 1 → 0"
    assert message.splitlines()[3] == "  in total, 3 tasks wait for one another"
