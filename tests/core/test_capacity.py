"""How many attempts the machine can run: they fit, the bound is stable, and it has a reason."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby

import pytest
from hypothesis import given, strategies as st

from plait.core.capacity import (
    GIB,
    MIB,
    NO_BOUND,
    REMOTE_LIMITS,
    Demand,
    MachineReadings,
    cluster_capacity,
    count_local_slots,
    estimate_footprint,
    find_capacity_change,
    format_binary_size,
    list_executors,
    measure_demand,
    memory_capacity,
    reserved_memory,
    shared_capacity,
)
from plait.core.graph import build_checked_plan
from plait.core.reports import CapacityChanged
from plait.core.requests import ChangeEngineSettings, Pause, Submit
from plait.core.scheduler.rules import fold_incoming
from plait.core.settings import EngineSettings, ExecutorKind, Settings
from plait.core.status import Category, WaitReason
from plait.core.task import Task
from plait.testing.script import BATCH, Script

FAIR = MachineReadings(
    memory=16 * GIB,
    memory_total=24 * GIB,
    disk=90 * GIB,
    disk_total=500 * GIB,
    load=1.0,
    cores=8,
    memory_stall=0.0,
)
BYTES = st.integers(0, 64 * GIB)
MACHINES = st.builds(
    lambda total, share: replace(FAIR, memory=int(total * share), memory_total=total),
    st.integers(1, 256 * GIB),
    st.floats(0, 1),
)
DEMANDS = st.builds(
    Demand,
    slots=st.integers(0, 12),
    growth=BYTES,
    agent=st.sampled_from(["claude", "shell", ""]),
    footprint=st.integers(1, 16 * GIB),
    limit=st.integers(0, 8),
    previous_slots=st.none() | st.integers(0, 30),
)


def with_memory(left: int) -> MachineReadings:
    return replace(FAIR, memory=left)


def width(found: CapacityChanged) -> float:
    return float("inf") if found.slots is None else found.slots


@given(MACHINES, DEMANDS)
def test_the_capacity_fits_beside_what_runs(machine: MachineReadings, wanted: Demand) -> None:
    found = memory_capacity(machine, wanted)
    more = (wanted.limit if found.slots is None else found.slots) - wanted.slots
    spare = machine.memory - reserved_memory(machine.memory_total) - wanted.growth
    alone = found.slots == 1 or (found.slots is None and wanted.limit == 1)
    assert more <= 0 or alone or more * wanted.footprint <= spare


@given(MACHINES, DEMANDS)
def test_at_least_one_slot_is_allowed_while_memory_is_left(machine: MachineReadings, wanted: Demand) -> None:
    if memory_capacity(machine, wanted).slots == 0:
        assert machine.memory < min(512 * MIB, machine.memory_total / 16)


@given(MACHINES, DEMANDS, BYTES)
def test_more_memory_never_lowers_the_capacity(machine: MachineReadings, wanted: Demand, more: int) -> None:
    richer = replace(machine, memory=machine.memory + more)
    assert width(memory_capacity(richer, wanted)) >= width(memory_capacity(machine, wanted))


@given(MACHINES, DEMANDS)
def test_the_capacity_stays_while_nothing_changes(machine: MachineReadings, wanted: Demand) -> None:
    capacity = memory_capacity(machine, wanted)
    assert memory_capacity(machine, replace(wanted, previous_slots=capacity.slots)).slots == capacity.slots


@given(
    st.integers(-3, 20),
    st.integers(0, 100 * MIB),
    st.lists(st.integers(0, 100 * MIB), min_size=2, max_size=30),
    st.integers(0, 6),
    st.integers(0, 8),
)
def test_small_changes_of_memory_do_not_change_the_capacity(
    fits: int, below: int, sways: list[int], slots: int, limit: int
) -> None:
    """A sway over an edge, of less than a quarter of a footprint, is capacity as it is and at most once as less."""
    wanted = Demand(slots, GIB, "claude", 512 * MIB, limit)
    edge = reserved_memory(FAIR.memory_total) + wanted.growth + fits * wanted.footprint
    capacity: list[int | None] = []
    for sway in sways:
        capacity.append(memory_capacity(with_memory(max(0, edge - below + sway)), wanted).slots)
        wanted = replace(wanted, previous_slots=capacity[-1])
    assert len([*groupby(capacity)]) <= 2


def test_a_large_machine_sets_no_bound_within_the_limit() -> None:
    assert memory_capacity(FAIR, Demand(4, 2 * GIB, "claude", GIB, limit=4)) == NO_BOUND
    assert (
        memory_capacity(with_memory(reserved_memory(FAIR.memory_total) + 2 * GIB), Demand(2, 0, "claude", GIB, limit=4))
        == NO_BOUND
    )


def test_without_a_limit_the_machine_is_the_limit() -> None:
    assert memory_capacity(FAIR, Demand(0, 0, "claude", GIB)).slots == 14


def test_a_capacity_far_above_the_demand_is_not_changed() -> None:
    assert memory_capacity(FAIR, Demand(2, 0, "claude", GIB, previous_slots=11)).slots == 11
    assert memory_capacity(FAIR, Demand(4, 0, "claude", GIB, previous_slots=11)).slots == 18


def test_the_reason_names_the_memory_left_and_the_agent() -> None:
    capacity = memory_capacity(with_memory(int(2.1 * GIB)), Demand(1, 0, "claude", int(1.4 * GIB), limit=4))
    assert capacity == CapacityChanged(
        1, "2.1 GiB of memory left, 1.2 GiB of it kept free, and claude takes up to 1.4 GiB", WaitReason.MEMORY
    )
    capacity = memory_capacity(with_memory(4 * GIB), Demand(2, 3 * GIB, "", 300 * MIB, limit=4))
    assert capacity.why == (
        "4.0 GiB of memory left, 1.2 GiB of it kept free and 3.0 GiB for running attempts to grow, "
        "and the next attempt takes up to 300 MiB"
    )


def test_without_memory_not_even_one_attempt_starts() -> None:
    wanted = Demand(0, 0, "claude", GIB)
    assert memory_capacity(with_memory(90 * MIB), wanted) == CapacityChanged(0, "only 90 MiB of memory left")
    assert memory_capacity(with_memory(300 * MIB), replace(wanted, previous_slots=0)).slots == 0
    assert memory_capacity(with_memory(600 * MIB), replace(wanted, previous_slots=0)).slots == 1


def test_without_readings_there_is_no_bound() -> None:
    assert memory_capacity(replace(FAIR, memory=0, memory_total=0), Demand(0, 0, "claude", GIB)) == NO_BOUND


@pytest.mark.parametrize(
    ("total", "kept"), [(2 * GIB, GIB // 4), (8 * GIB, GIB), (16 * GIB, GIB), (100 * GIB, 5 * GIB)]
)
def test_a_small_machine_keeps_less_free(total: int, kept: int) -> None:
    assert reserved_memory(total) == kept


def test_the_footprint_of_an_agent_is_recorded_however_it_ended() -> None:
    script = Script("a", "b", "c", "d", settings=Settings(agents=("claude",), retries=0))
    assert estimate_footprint(script.state, "claude") == 512 * MIB
    script.exit_attempt("a", Category.TASK, peak=200 * MIB)
    assert estimate_footprint(script.state, "claude") == 512 * MIB  # one that died early tells little
    script.exit_attempt("b", Category.RATE_LIMIT, peak=700 * MIB)
    assert estimate_footprint(script.state, "claude") == 700 * MIB
    script.exit_attempt("c", peak=0)
    script.exit_attempt("d", peak=300 * MIB)
    assert script.state.agent_stats["claude"].footprints == (200 * MIB, 700 * MIB, 300 * MIB)
    assert estimate_footprint(script.state, "claude") == 700 * MIB


def test_small_footprints_count_and_old_ones_are_dropped() -> None:
    tasks = [str(n) for n in range(24)]
    script = Script(*tasks, settings=Settings(agents=("claude",), max_parallel=1))
    for place, name in enumerate(tasks):
        script.exit_attempt(name, peak=GIB if place == 0 else 100 * MIB)
    assert len(script.state.agent_stats["claude"].footprints) == 20
    assert estimate_footprint(script.state, "claude") == 100 * MIB


def test_the_footprint_of_an_attempt_is_per_slot() -> None:
    script = Script(Task("heavy", slots=3))
    assert measure_demand(script.state, {}).growth == 3 * estimate_footprint(script.state, "shell")
    script.exit_attempt("heavy", peak=3 * GIB)
    assert script.state.agent_stats["shell"].footprints == (GIB,)


def test_a_verification_has_a_footprint_of_its_own() -> None:
    script = Script("a", settings=Settings(verify="make check"))
    script.exit_attempt("a", peak=100 * MIB)
    script.exit_attempt("a", peak=2 * GIB)
    assert estimate_footprint(script.state, "shell") == 100 * MIB
    assert estimate_footprint(script.state, "verify") == 2 * GIB


def test_the_largest_footprint_of_the_next_agents_decides() -> None:
    script = Script("a", Task("b", agent="claude"), settings=Settings(max_parallel=1))
    wanted = measure_demand(script.state, {})
    assert (wanted.agent, wanted.footprint, wanted.slots) == ("claude", 512 * MIB, 1)
    script.exit_attempt("a")
    assert measure_demand(script.state, {}).agent == "shell"  # nobody is next: what the batch uses


def test_a_due_verification_counts_and_a_paused_batch_does_not() -> None:
    script = Script("a", "b", settings=Settings(verify="make check", max_parallel=1))
    script.apply(CapacityChanged(0, "only 90 MiB of memory left"))
    script.exit_attempt("a")
    assert measure_demand(script.state, {}).agent == "verify"
    script.request(lambda name: Pause(name, BATCH))
    script.submit("x", batch="b2")
    assert measure_demand(script.state, {}).agent == "shell"


def test_a_bound_by_other_engines_is_not_a_memory_bound() -> None:
    script = Script("a")
    assert measure_demand(script.state, {}).previous_slots is None
    script.apply(CapacityChanged(2, "little memory left"))
    assert measure_demand(script.state, {}).previous_slots == 2
    script.apply(shared_capacity(4, 2, ""))
    assert measure_demand(script.state, {}).previous_slots is None


def test_running_attempts_are_expected_to_grow_to_their_footprint() -> None:
    script = Script("a", "b", settings=Settings(agents=("claude",)))
    one, two = script.batch().alive
    assert measure_demand(script.state, {}).growth == GIB
    assert measure_demand(script.state, {one: 112 * MIB, two: 9 * GIB}).growth == 400 * MIB


def test_other_engines_leave_the_slots_that_they_do_not_use() -> None:
    assert shared_capacity(4, 0, "") == shared_capacity(0, 3, "") == NO_BOUND
    assert shared_capacity(4, 3, "the engine\nof website") == CapacityChanged(
        1, "3 of your 4 slots are taken by the engine of website", WaitReason.SLOT
    )
    assert shared_capacity(4, 9, "").slots == 0


def test_engines_that_wait_get_an_even_share() -> None:
    assert shared_capacity(4, 0, "", queued_engines=1).slots == 2, "a busy engine makes room as its attempts end"
    assert shared_capacity(5, 0, "", queued_engines=1).slots == 3
    assert shared_capacity(4, 0, "", queued_engines=3).slots == 1
    assert shared_capacity(4, 3, "website", queued_engines=1).slots == 1, "never more than is left"
    assert shared_capacity(1, 0, "", queued_engines=5).slots == 1, "and never nothing, where something is left"
    assert shared_capacity(0, 9, "", queued_engines=1) == NO_BOUND


def test_the_smaller_bound_is_reported_once() -> None:
    script = Script("a", settings=Settings(agents=("claude",)))
    assert find_capacity_change(script.state, FAIR, {}) is None
    capacity = find_capacity_change(script.state, FAIR, {}, shared_capacity(4, 3, "website"))
    assert capacity == CapacityChanged(1, "3 of your 4 slots are taken by website", WaitReason.SLOT)
    script.apply(capacity)
    assert find_capacity_change(script.state, FAIR, {}, shared_capacity(4, 3, "website")) is None
    tight = find_capacity_change(script.state, with_memory(GIB), {}, shared_capacity(4, 2, ""))
    assert tight is not None
    assert (tight.slots, tight.on) == (1, WaitReason.MEMORY)
    assert find_capacity_change(script.state, FAIR, {}) == NO_BOUND


@pytest.mark.parametrize(
    ("count", "expected"), [(0, "0 MiB"), (312 * MIB, "312 MiB"), (int(2.14 * GIB), "2.1 GiB"), (GIB, "1.0 GiB")]
)
def test_sizes_are_formatted_for_people(count: int, expected: str) -> None:
    assert format_binary_size(count) == expected


def test_a_cluster_bounds_what_runs_there_and_this_machine_does_not() -> None:
    settings = Settings(executor=ExecutorKind.RAY, max_parallel=0)
    script = Script(start=False)
    script.apply(ChangeEngineSettings("limit", EngineSettings(parallel_limit=0), ("parallel_limit",)))
    script.apply(cluster_capacity(2))
    script.submit("a", "b", "c", settings=settings)
    assert list_executors(script.state) == {ExecutorKind.RAY}
    assert script.running_tasks() == ["a", "b"]
    assert script.explain("c") == "c is queued: all 2 cluster slots are busy"
    assert (measure_demand(script.state, {}).growth, count_local_slots(script.state)) == (0, 0)
    more = find_capacity_change(script.state, with_memory(0), {}, cluster_capacity(3), REMOTE_LIMITS)
    script.apply(more or NO_BOUND)
    assert script.running_tasks() == ["a", "b", "c"]
    script.apply(Pause("p", BATCH))
    assert list_executors(script.state) == set()


def test_why_a_cluster_has_no_slots_is_kept_up_to_date() -> None:
    script = Script(start=False)
    script.apply(cluster_capacity(0, "one: it has no git"))
    script.submit("a", settings=Settings(executor=ExecutorKind.RAY))
    assert script.explain("a") == "a is queued: one: it has no git"
    gone = cluster_capacity(0, "the cluster can't be reached")
    script.apply(find_capacity_change(script.state, FAIR, {}, gone, REMOTE_LIMITS) or NO_BOUND)
    assert script.explain("a") == "a is queued: the cluster can't be reached"
    assert find_capacity_change(script.state, FAIR, {}, gone, REMOTE_LIMITS) is None


def test_a_batch_that_is_about_to_be_opened_counts() -> None:
    """The cluster's room is known before the first attempt starts, or all tasks would start at once."""
    plan = build_checked_plan([Task("a")]).plan
    assert plan is not None
    script = Script(start=False)
    fold_incoming(script.state, [Submit("r", BATCH, plan, Settings(executor=ExecutorKind.RAY), base="0")], 0.0)
    assert list_executors(script.state) == {ExecutorKind.RAY}
