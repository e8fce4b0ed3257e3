from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from plait.core.dependencies import UnknownNeeds
from plait.core.graph import PlanCheck, build_checked_plan
from plait.core.plan import Plan, Severity
from plait.core.task import Need, NeedKind, Origin, Task

Graph = list[set[int]]


def task(name: str, *needs: str, line: int = 0, weight: float = 1.0) -> Task:
    return Task(name, needs=tuple(map(Need, needs)), origin=Origin("TODO.md", line), weight=weight)


def planned(checked: PlanCheck) -> Plan:
    assert checked.plan is not None, checked.problems
    return checked.plan


def format_problems(checked: PlanCheck) -> list[str]:
    """Each problem as `severity place: message | hint`."""
    return [f"{p.severity} {p.at or '-'}: {p.message} | {p.hint}" for p in checked.problems]


@st.composite
def graphs(draw: st.DrawFn, *, cyclic: bool) -> Graph:
    """What each task needs, by place; in an acyclic graph only what has a lower number in a shuffled order."""
    size = draw(st.integers(1, 8))
    numbers = draw(st.permutations(range(size)))
    wanted = [draw(st.sets(st.integers(0, size - 1), max_size=3)) for _ in range(size)]
    return [
        {other for other in needs if cyclic or numbers[other] < numbers[place]} for place, needs in enumerate(wanted)
    ]


def tasks_of(graph: Graph) -> list[Task]:
    return [task(f"t{place}", *(f"t{other}" for other in needs)) for place, needs in enumerate(graph)]


def on_a_cycle(graph: Graph) -> list[frozenset[int]]:
    """By brute force, the sets of places that reach one another."""
    reach = [set(needs) for needs in graph]
    for _ in graph:
        for found in reach:
            found.update(*(reach[other] for other in list(found)))
    knots = {
        frozenset(other for other in reach[place] if place in reach[other])
        for place in range(len(graph))
        if place in reach[place]
    }
    return sorted(knots, key=min)


@given(graphs(cyclic=True))
def test_there_is_a_plan_unless_there_is_a_cycle_and_every_cycle_is_reported(graph: Graph) -> None:
    knots = on_a_cycle(graph)
    checked = build_checked_plan(tasks_of(graph))

    assert (checked.plan is None) == bool(knots)
    assert len(checked.problems) == len(knots)
    for problem, knot in zip(checked.problems, knots, strict=True):
        path = [int(name.strip()[1:]) for name in problem.message.splitlines()[0].split(": ")[1].split("→")]
        assert path[0] == path[-1] == min(knot)
        assert knot.issuperset(path)
        assert all(before in graph[place] for before, place in pairwise(path))


@given(graphs(cyclic=False))
def test_a_plan_has_the_needs_as_places_in_order(graph: Graph) -> None:
    tasks = tasks_of(graph)
    plan = planned(build_checked_plan(tasks))

    assert plan.tasks == tuple(tasks)
    assert plan.needs == tuple(tuple(sorted(needs)) for needs in graph)


@given(graphs(cyclic=False), st.lists(st.integers(0, 5), min_size=8, max_size=8))
def test_a_rank_is_the_longest_path_to_the_end(graph: Graph, durations: list[int]) -> None:
    @cache
    def longest(place: int) -> float:
        after = [longest(other) for other, needs in enumerate(graph) if place in needs]
        return durations[place] + max(after, default=0)

    plan = planned(build_checked_plan(tasks_of(graph), durations=lambda task: durations[int(task.id[1:])]))

    assert plan.ranks == tuple(longest(place) for place in range(len(graph)))


def test_without_history_the_estimate_counts_and_else_the_weight() -> None:
    plan = planned(build_checked_plan([Task("a", weight=2), Task("b", weight=2, estimate=90)]))

    assert plan.ranks == (1200, 90)


def test_a_cycle_is_reported_with_the_lines_that_state_it() -> None:
    tasks = [
        Task("1", needs=(Need("3", reason="Dependencies: 3", at=Origin("TODO.md", 4)),)),
        Task("2", needs=(Need("1", reason="Dependencies: 1", at=Origin("TODO.md", 14)),)),
        Task("3", needs=(Need("2", NeedKind.CHAIN, reason="Tasks 2-3 are [SEQUENTIAL]"),)),
    ]

    assert format_problems(build_checked_plan(tasks)) == [
        (
            "error TODO.md:4: tasks wait for one another: 1 → 2 → 3 → 1\n"
            '  2 needs 1 (TODO.md:14: "Dependencies: 1")\n'
            '  3 follows 2 ("Tasks 2-3 are [SEQUENTIAL]")\n'
            '  1 needs 3 (TODO.md:4: "Dependencies: 3")'
            " | Remove one of these needs; the last one, at TODO.md:4, contradicts the order of the plan."
        )
    ]


def test_a_task_that_needs_itself_is_a_cycle_of_one() -> None:
    assert format_problems(build_checked_plan([task("1", "1", line=3)])) == [
        "error TODO.md:3: 1 waits for itself: 1 → 1\n  1 needs 1 (TODO.md:3) | Remove that need, at TODO.md:3."
    ]


def test_a_plan_without_tasks_is_an_error() -> None:
    assert format_problems(build_checked_plan([])) == [
        "error -: there are no tasks to run | Name a source that has tasks, or select others with --select."
    ]


def test_two_tasks_of_one_id_are_an_error_that_names_both_places_and_hides_no_other() -> None:
    checked = build_checked_plan([task("1", line=3), task("1", line=9), task("2", "2", line=12)])

    assert checked.plan is None
    assert format_problems(checked) == [
        "error TODO.md:9: 2 tasks are called 1: TODO.md:3 and TODO.md:9 | Give each of them an id of its own.",
        "error TODO.md:12: 2 waits for itself: 2 → 2\n  2 needs 2 (TODO.md:12) | Remove that need, at TODO.md:12.",
    ]


def test_a_need_on_a_finished_task_is_met_without_a_message() -> None:
    checked = build_checked_plan([task("2", "1")], finished=["1"], unknown=UnknownNeeds.FAIL)

    assert planned(checked).needs == ((),)
    assert checked.problems == ()


def test_a_finished_task_that_runs_again_is_waited_for() -> None:
    assert planned(build_checked_plan([task("1"), task("2", "1")], finished=["1"])).needs == ((), (0,))


def test_a_need_on_a_task_that_was_not_selected_is_an_error_with_two_ways_out() -> None:
    tasks = [task("2", "1", line=5), task("3", "2", "1", line=9)]

    assert format_problems(build_checked_plan(tasks, known=["1", "2", "3"])) == [
        (
            "error TODO.md:5: 2 and 1 more need 1, which is neither finished nor selected"
            " | --with-needs adds it, --ignore-needs ignores it."
        )
    ]


def test_unselected_needs_can_be_ignored() -> None:
    checked = build_checked_plan([task("2", "1", line=5), task("3", "2", "1")], known=["1"], ignore_needs=True)

    assert planned(checked).needs == ((), (0,))
    assert format_problems(checked) == [
        "info TODO.md:5: 2 and 1 more need 1, which is neither finished nor selected: ignored | "
    ]


def test_an_unknown_need_counts_as_finished_and_is_reported_once() -> None:
    checked = build_checked_plan([task("2", "1", "1", line=5)])

    assert planned(checked).needs == ((),)
    assert format_problems(checked) == [
        (
            "info TODO.md:5: 2 needs 1, which is not in any source: assumed finished"
            " | With --unknown-needs fail this is an error."
        )
    ]


def test_an_unknown_need_can_be_an_error_that_names_the_nearest_id() -> None:
    tasks = [task("01-setup"), task("02-api", "01-stup", line=5), task("03-docs", "nowhere", line=7)]

    assert format_problems(build_checked_plan(tasks, unknown=UnknownNeeds.FAIL)) == [
        "error TODO.md:5: 02-api needs 01-stup, which is not in any source | Did you mean 01-setup?",
        (
            "error TODO.md:7: 03-docs needs nowhere, which is not in any source"
            " | Correct the id, or treat it as finished: --unknown-needs done."
        ),
    ]


def test_thousands_of_unknown_needs_are_refused_with_a_bounded_search_for_near_ids() -> None:
    tasks = [task(f"task-{place}", f"tusk-{place}") for place in range(5_000)]
    checked = build_checked_plan(tasks, unknown=UnknownNeeds.FAIL)

    assert len(checked.problems) == 5_000
    assert sum(problem.hint.startswith("Did you mean") for problem in checked.problems) == 5


def test_a_need_stated_twice_is_one_need() -> None:
    assert planned(build_checked_plan([task("1"), task("2", "1", "1")])).needs == ((), (0,))


@pytest.mark.parametrize("shape", ["chain", "ring"])
def test_a_chain_or_ring_of_twenty_thousand_tasks_is_checked_without_recursion(shape: str) -> None:
    size = 20_000
    tasks = [task(f"{place}", f"{place - 1}") if place else task("0") for place in range(size)]
    if shape == "ring":
        tasks[0] = task("0", f"{size - 1}")
    checked = build_checked_plan(tasks)

    if checked.plan is None:
        assert [problem.severity for problem in checked.problems] == [Severity.ERROR]
    else:
        assert checked.plan.ranks[0] == size * 600
    assert (checked.plan is None) == (shape == "ring")
