from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, strategies as st

from plait.core.dependencies import UnknownNeeds
from plait.core.graph import PlanCheck, build_checked_plan
from plait.core.phases import is_held_by_phase
from plait.core.plan import Plan
from plait.core.settings import Settings
from plait.core.status import Category
from plait.core.task import Need, NeedKind, Origin, Phase, Task
from plait.testing.script import Script

ONE, TWO = Phase("1"), Phase("2", after=("1",), at=Origin("plan.md", 20), reason="## Phase 2: Build")


def task(name: str, *needs: str, kind: NeedKind = NeedKind.NEED, gating: bool = True) -> Task:
    """`2.1` is part of phase 2."""
    edges = tuple(Need(on, kind) for on in needs)
    return Task(name, needs=edges, phase=name.split(".", 1)[0], gating=gating, origin=Origin("plan.md", 30))


def planned(checked: PlanCheck) -> Plan:
    assert checked.plan is not None, checked.problems
    return checked.plan


def format_problems(checked: PlanCheck) -> list[str]:
    return [f"{p.severity} {p.at or '-'}: {p.message}" for p in checked.problems]


def test_a_task_with_needs_of_its_own_is_not_held_by_its_phase() -> None:
    assert is_held_by_phase(task("2.1"), TWO)
    assert is_held_by_phase(task("2.2", "2.1", kind=NeedKind.CHAIN), TWO)
    assert not is_held_by_phase(task("2.1", "1.1"), TWO)


def test_a_barrier_holds_tasks_with_needs_too() -> None:
    first, barrier = Phase("1"), Phase("2", after=("1",), gate=1.0)
    assert is_held_by_phase(task("2.1", "1.1"), barrier)
    tasks = (Task("1.1", phase="1"), Task("1.2", phase="1"), Task("2.1", phase="2", needs=(Need("1.1"),)))
    script = Script(*tasks, phases=(first, barrier))
    script.exit_attempt("1.1")
    assert script.status("2.1") == "waiting"
    script.exit_attempt("1.2")
    assert script.status("2.1") == "running"


def test_totals_cover_the_tasks_at_hand_and_keep_what_the_source_counted() -> None:
    tasks = [task("1.1"), task("1.2"), task("1.3", gating=False), task("2.1")]
    phases = planned(
        build_checked_plan(tasks, phases=[Phase("1", settled=3), Phase("2", after=("1",), total=9)])
    ).phases

    assert [(phase.total, phase.settled) for phase in phases] == [(5, 3), (9, 0)]


def test_unknown_phases_are_errors() -> None:
    tasks = [task("1.1"), task("3.1"), task("3.2"), task("4.1")]

    assert format_problems(
        build_checked_plan(tasks, phases=[ONE, Phase("2", after=("7",), at=Origin("plan.md", 9))])
    ) == [
        "error plan.md:30: 3.1 is part of phase 3, which does not exist",
        "error plan.md:30: 4.1 is part of phase 4, which does not exist",
        "error plan.md:9: phase 2 comes after phase 7, which does not exist",
    ]


def test_two_phases_of_one_name_are_an_error() -> None:
    assert format_problems(build_checked_plan([task("1.1")], phases=[ONE, Phase("1")])) == [
        "error -: there are two phases called 1"
    ]


def test_phases_that_wait_for_one_another_are_an_error() -> None:
    checked = build_checked_plan([Task("x")], phases=[Phase("1", after=("2",)), TWO])

    assert checked.problems[0].hint == "Let one of them come first."
    assert format_problems(checked) == [
        (
            "error -: phases wait for one another: phase 1 → phase 2 → phase 1\n"
            '  phase 2 waits for phase 1 (plan.md:20: "## Phase 2: Build")\n'
            "  phase 1 waits for phase 2"
        )
    ]


def opened_with(other: str, unknown: UnknownNeeds = UnknownNeeds.DONE) -> PlanCheck:
    phase = Phase("2", after=("1",), opens_with=other, at=Origin("plan.md", 20))
    return build_checked_plan(
        [task("1.1"), task("2.1")], phases=[ONE, phase], finished=["1.2"], known=["1.3"], unknown=unknown
    )


@pytest.mark.parametrize(
    ("other", "after", "opens_with", "problem"),
    [
        ("1.1", ("1",), "1.1", []),
        ("1.2", (), None, []),
        ("1.3", ("1",), None, ["which is neither finished nor selected: it waits for the earlier phases"]),
        ("1.4", (), None, ["which is not in any source: assumed finished, so the phase is open"]),
    ],
)
def test_a_phase_opens_with_a_task_of_the_plan_or_is_open_or_waits_as_usual(
    other: str, after: tuple[str, ...], opens_with: str | None, problem: list[str]
) -> None:
    checked = opened_with(other)
    phase = planned(checked).phases[1]

    assert (phase.after, phase.opens_with) == (after, opens_with)
    assert format_problems(checked) == [
        f"info plan.md:20: phase 2 opens with {other}, {message}" for message in problem
    ]


def test_a_phase_that_opens_with_an_unknown_task_is_refused_where_unknown_needs_are() -> None:
    checked = opened_with("1.11", UnknownNeeds.FAIL)

    assert format_problems(checked) == ["error plan.md:20: phase 2 opens with 1.11, which is not in any source"]
    assert checked.problems[0].hint == "Did you mean 1.1?"


def test_a_need_on_a_task_that_waits_for_the_phase_is_a_contradiction() -> None:
    checked = build_checked_plan([task("1.1", "2.1"), task("1.2"), task("2.1"), task("2.2")], phases=[ONE, TWO])

    assert format_problems(checked) == [
        (
            "error plan.md:30: tasks and phases wait for one another: 1.1 → phase 1 → phase 2 → 2.1 → 1.1\n"
            "  1.1 is part of phase 1\n"
            '  phase 2 waits for phase 1 (plan.md:20: "## Phase 2: Build")\n'
            "  2.1 is part of phase 2\n"
            "  1.1 needs 2.1 (plan.md:30)"
        )
    ]
    assert checked.problems[0].hint == (
        "Remove the need, or give the later task needs of its own: then it does not wait for its phase."
    )


def test_a_later_task_with_needs_can_be_needed_earlier() -> None:
    assert build_checked_plan([task("1.1", "2.1"), task("1.2"), task("2.1", "1.2")], phases=[ONE, TWO]).plan


def test_a_task_that_does_not_gate_may_need_a_later_phase() -> None:
    assert build_checked_plan([task("1.1", "2.1", gating=False), task("2.1")], phases=[ONE, TWO]).plan


def test_parallel_phases_do_not_contradict_needs() -> None:
    assert build_checked_plan([task("1.1", "2.1"), task("2.1")], phases=[ONE, Phase("2")]).plan


def test_a_phase_cannot_open_with_a_task_that_waits_for_it() -> None:
    checked = build_checked_plan([task("1.1"), task("2.1")], phases=[ONE, Phase("2", after=("1",), opens_with="2.1")])

    assert format_problems(checked) == [
        (
            "error plan.md:30: tasks and phases wait for one another: 2.1 → phase 2 → 2.1\n"
            "  phase 2 waits for 2.1\n"
            "  2.1 is part of phase 2"
        )
    ]


@st.composite
def phased(draw: st.DrawFn) -> tuple[list[Task], list[Phase]]:
    """Acyclic needs over tasks of up to three phases, each after some or all of the ones before it."""
    size, count = draw(st.integers(1, 7)), draw(st.integers(1, 3))
    names = [f"{draw(st.integers(0, count - 1))}.{place}" for place in range(size)]
    opener = st.none() | st.sampled_from(names)
    earlier = [tuple(map(str, range(draw(st.integers(0, key)), key))) for key in range(count)]
    phases = [Phase(str(key), after=after, opens_with=draw(opener)) for key, after in enumerate(earlier)]
    tasks = []
    for place, name in enumerate(names):
        needs = draw(st.sets(st.sampled_from(names[:place]), max_size=2)) if place else ()
        tasks.append(task(name, *sorted(needs), kind=draw(st.sampled_from(NeedKind)), gating=draw(st.booleans())))
    return draw(st.permutations(tasks)), phases


class Run:
    """A batch that runs by the rules alone, one task at a time."""

    def __init__(self, tasks: list[Task], phases: list[Phase], share: float) -> None:
        self.tasks, self.share = tasks, share
        self.phases = {phase.key: phase for phase in phases}
        self.done: set[str] = set()
        self.failed: set[str] = set()

    def counted(self, key: str) -> set[str]:
        return {task.id for task in self.tasks if task.phase == key and task.gating}

    def passed(self, key: str) -> bool:
        counted = self.counted(key)
        enough = len(self.done & counted) >= self.share * len(counted)
        return enough or (self.share < 1 and self.done | self.failed >= counted)

    def opened(self, phase: Phase) -> bool:
        if phase.opens_with is not None and phase.opens_with not in self.failed:
            return phase.opens_with in self.done
        return (phase.opens_with is None or self.share < 1) and all(map(self.passed, phase.after))

    def hopeless(self, phase: Phase) -> bool:
        awaited = set().union(*map(self.counted, phase.after)) if phase.opens_with is None else {phase.opens_with}
        return self.share >= 1 and not self.failed.isdisjoint(awaited)

    def ready(self, task: Task) -> bool:
        phase = self.phases[task.phase or ""]
        gate = not is_held_by_phase(task, phase) or self.opened(phase)
        return gate and all(need.on in self.done for need in task.needs)

    def blocked(self, task: Task) -> bool:
        lost = any(need.on in self.failed for need in task.needs)
        phase = self.phases[task.phase or ""]
        return lost or (is_held_by_phase(task, phase) and self.hopeless(phase))

    def left(self, chance: Random, luck: float) -> list[Task]:
        """The tasks that never come to an end."""
        while True:
            live = [task for task in self.tasks if task.id not in self.done | self.failed]
            startable = [task for task in live if self.ready(task)]
            if lost := [task for task in live if self.blocked(task)]:
                self.failed.add(lost[0].id)
            elif startable:
                (self.done if chance.random() < luck else self.failed).add(chance.choice(startable).id)
            else:
                return live


@given(
    phased(),
    st.sampled_from([0.0, 0.5, 0.8, 1.0]),
    st.randoms(use_true_random=False),
    st.sampled_from([1.0, 0.6]),
)
def test_every_accepted_plan_with_phases_ends(
    case: tuple[list[Task], list[Phase]], share: float, chance: Random, luck: float
) -> None:
    tasks, phases = case
    checked = build_checked_plan(tasks, phases=phases)

    if checked.plan is not None:
        assert Run(tasks, phases, share).left(chance, luck) == []
    else:
        assert "tasks and phases wait for one another" in checked.problems[0].message
        if not any(phase.opens_with for phase in phases):
            assert Run(tasks, phases, 1.0).left(chance, luck=1.0)


def test_a_phase_may_ask_for_more_or_less_of_the_earlier_ones_than_the_batch_does() -> None:
    def script(gate: float | None) -> Script:
        first, second = Phase("1"), Phase("2", after=("1",), gate=gate)
        tasks = [Task(f"1.{n}", phase="1") for n in (1, 2)]
        return Script(*tasks, Task("2.1", phase="2"), phases=(first, second), settings=Settings(retries=0))

    eager, usual, barrier = (script(gate) for gate in (0.5, None, 1.0))
    for each in (eager, usual, barrier):
        each.exit_attempt("1.1")
    assert [each.status("2.1") for each in (eager, usual, barrier)] == ["running", "waiting", "waiting"]
    assert "100% needed" in barrier.explain("2.1")
    for each in (usual, barrier):
        each.exit_attempt("1.2", Category.TASK)
    assert [each.status("2.1") for each in (usual, barrier)] == ["running", "blocked"]
