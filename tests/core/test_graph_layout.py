from __future__ import annotations

from itertools import pairwise

from hypothesis import given, strategies as st

from plait.core.graph import (
    build_checked_plan,
    find_critical_path,
    find_file_conflicts,
    group_waves,
    list_edges,
)
from plait.core.phases import is_held_by_phase
from plait.core.plan import Conflict, Plan
from plait.core.task import Need, NeedKind, Origin, Phase, Task


def plan_of(*tasks: Task, phases: tuple[Phase, ...] = ()) -> Plan:
    checked = build_checked_plan(tasks, phases=phases)
    assert checked.plan is not None, checked.problems
    return checked.plan


def task(name: str, *needs: str, phase: str | None = None, seconds: float = 1) -> Task:
    return Task(name, needs=tuple(map(Need, needs)), phase=phase, estimate=seconds)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Acyclic needs among tasks written in any order; phase 2 comes after phase 1."""
    names = [f"t{place}" for place in range(draw(st.integers(1, 8)))]
    phase = st.sampled_from((None, "1", "2"))
    tasks = []
    for place, name in enumerate(names):
        needs = draw(st.sets(st.sampled_from(names[:place]), max_size=3)) if place else ()
        tasks.append(task(name, *sorted(needs), phase=draw(phase), seconds=draw(st.integers(0, 3))))
    checked = build_checked_plan(draw(st.permutations(tasks)), phases=(Phase("1"), Phase("2", after=("1",))))
    return checked.plan or plan_of(*tasks[:1], phases=(Phase("1"), Phase("2")))


@given(plans())
def test_each_task_stands_right_after_the_last_thing_it_waits_for(plan: Plan) -> None:
    level = {name: wave for wave, names in enumerate(group_waves(plan)) for name in names}
    first_phase = [level[task.id] for task in plan.tasks if task.phase == "1" and task.gating]

    for task, needs in zip(plan.tasks, plan.needs, strict=True):
        before = [level[plan.tasks[place].id] for place in needs]
        if task.phase == "2" and is_held_by_phase(task, plan.phases[1]):
            before += first_phase
        assert level[task.id] == max(before, default=-1) + 1


@given(plans())
def test_the_critical_path_is_a_chain_of_needs_as_long_as_the_longest(plan: Plan) -> None:
    path = [{task.id: place for place, task in enumerate(plan.tasks)}[name] for name in find_critical_path(plan)]

    assert all(before in plan.needs[place] for before, place in pairwise(path))
    assert sum(plan.tasks[place].estimate or 0 for place in path) == max(plan.ranks)


def test_waves_are_in_the_order_of_the_plan() -> None:
    assert group_waves(plan_of(task("d", "a", "c"), task("c", "b"), task("b"), task("a"))) == [
        ["b", "a"],
        ["c"],
        ["d"],
    ]


def test_a_phase_comes_after_the_earlier_ones_except_for_tasks_with_needs() -> None:
    phases = (Phase("1"), Phase("2", after=("1",)))
    tasks = (
        task("1.1", phase="1"),
        task("1.2", "1.1", phase="1"),
        task("2.1", phase="2"),
        task("2.2", "1.1", phase="2"),
        task("x"),
    )

    assert group_waves(plan_of(*tasks, phases=phases)) == [["1.1", "x"], ["1.2", "2.2"], ["2.1"]]


def test_a_phase_that_one_task_opens_comes_after_that_task() -> None:
    phases = (Phase("1"), Phase("2", after=("1",), opens_with="1.1"))
    tasks = (task("1.1", phase="1"), task("1.2", "1.1", phase="1"), task("2.1", phase="2"))

    assert group_waves(plan_of(*tasks, phases=phases)) == [["1.1"], ["1.2", "2.1"]]


def test_of_equally_long_paths_the_earliest_is_shown() -> None:
    plan = plan_of(task("a", seconds=2), task("b"), task("c", "b"), task("d", "b"))

    assert find_critical_path(plan) == ["a"]
    assert find_critical_path(plan_of(*plan.tasks[1:])) == ["b", "c"]


def test_every_edge_carries_the_reason_that_was_given_first_and_its_place() -> None:
    stated = Need("a", NeedKind.CHAIN, "Tasks a-b are [SEQUENTIAL]", Origin("plan.md", 3))
    plan = plan_of(Task("a", needs=(Need("gone"),)), Task("b", needs=(stated, Need("a", reason="again"))))

    assert [(task.id, need) for task, need in list_edges(plan)] == [("b", stated)]


def test_conflicts_are_the_files_that_tasks_have_in_common() -> None:
    plan = plan_of(
        Task("1", touches=("src/", "README.md"), exclusive="db"),
        Task("2", touches=("src/b.py", "src/a.py"), exclusive="db"),
        Task("3", touches=("src/a.py",), conflicts_with=("1",)),
        Task("4", touches=("docs/x.md",)),
    )

    assert find_file_conflicts(plan) == [
        Conflict("src/a.py", ("1", "2", "3")),
        Conflict("src/b.py", ("1", "2")),
    ]


def test_a_conflict_of_globs_is_shown_once() -> None:
    same = plan_of(Task("1", touches=("src/*.py",)), Task("2", touches=("src/*.py",)))
    unlike = plan_of(Task("1", touches=("src/*.py",)), Task("2", touches=("src/a*",)))

    assert find_file_conflicts(same) == [Conflict("src/*.py", ("1", "2"))]
    assert find_file_conflicts(unlike) == [Conflict("src/a*", ("1", "2"))]
