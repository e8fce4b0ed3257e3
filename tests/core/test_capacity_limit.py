"""Capacity limits what runs at once, gives a reason, and lets every task run in the end."""

from __future__ import annotations

import pytest

from plait.core.explain import explain_status
from plait.core.reports import CapacityChanged, EngineTaken, PressureChanged, RateLimited
from plait.core.requests import ChangeEngineSettings
from plait.core.settings import Budget, EngineSettings, Mode, Order, Settings, Spend
from plait.core.status import WaitReason
from plait.core.task import Task
from plait.core.views import waits_for_person
from plait.testing.script import BATCH, Script, started_tasks

LITTLE = "2.1 GiB of memory left, and claude takes up to 1.4 GiB"


def with_capacity(slots: int | None, *tasks: Task | str, settings: Settings | None = None) -> Script:
    script = Script(start=False)
    script.apply(CapacityChanged(slots, LITTLE))
    script.submit(*tasks, settings=settings)
    return script


def test_tasks_beyond_the_capacity_wait_and_say_why() -> None:
    script = with_capacity(2, "a", "b", "c")
    assert script.running_tasks() == ["a", "b"]
    assert script.explain("c") == f"c is waiting: {LITTLE}"
    assert explain_status(script.state, script.batch(), script.task("c")).waiting is WaitReason.MEMORY


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        (Settings(mode=Mode.QUEUE), "a is waiting: needs approval"),
        (Settings(budget=Budget(microusd=1), reserve=Spend(2)), "a is waiting: the batch is paused: "),
        (Settings(agents=("claude",)), "a is waiting: claude is rate-limited"),
        (Settings(), "a is waiting: the machine is short of resources (load 99)"),
    ],
)
def test_a_busy_machine_hides_no_other_reason(settings: Settings, why: str) -> None:
    script = Script(start=False)
    script.apply(PressureChanged("load 99"), RateLimited("claude", script.now + 500))
    script.submit("a", settings=settings)
    assert script.explain("a").startswith(why)


def test_taken_slots_are_named_before_a_busy_machine() -> None:
    script = Script("a", "b", settings=Settings(max_parallel=1))
    script.apply(PressureChanged("load 99"))
    assert script.explain("b") == "b is queued: 1 of the batch's 1 slots are taken"
    script.exit_attempt("a")
    assert script.explain("b") == "b is waiting: the machine is short of resources (load 99)"


def test_a_batch_that_waits_for_approval_waits_for_a_person_on_a_busy_machine_too() -> None:
    script = Script(start=False)
    script.apply(PressureChanged("load 99"))
    script.submit("a", settings=Settings(mode=Mode.QUEUE))
    assert waits_for_person(script.state, script.batch())


def test_slots_of_another_engine_are_waited_for_like_own_slots() -> None:
    script = with_capacity(1, "a")
    script.apply(CapacityChanged(1, "3 of your 4 slots are taken by another engine", WaitReason.SLOT))
    script.submit("x", batch="b2")
    assert script.explain("x", "b2") == "x is queued: 3 of your 4 slots are taken by another engine"
    assert explain_status(script.state, script.batch("b2"), script.task("x", "b2")).waiting is WaitReason.SLOT


def test_more_capacity_starts_more_tasks_at_once() -> None:
    script = with_capacity(1, "a", "b", "c")
    assert started_tasks(script.apply(CapacityChanged(2, LITTLE))) == ["b"]
    assert started_tasks(script.apply(CapacityChanged(None))) == ["c"]


def test_less_capacity_ends_nothing_and_starts_nothing() -> None:
    script = Script("a", "b", "c", settings=Settings(max_parallel=2))
    script.apply(CapacityChanged(1, LITTLE))
    assert script.running_tasks() == ["a", "b"]
    assert started_tasks(script.exit_attempt("a")) == []
    assert started_tasks(script.exit_attempt("b")) == ["c"]


def test_the_settings_limit_what_the_capacity_does_not() -> None:
    script = with_capacity(9, *"abcdef", settings=Settings(max_parallel=0))
    assert len(script.running_tasks()) == 4
    assert script.explain("e") == "e is queued: 4 of 4 slots are taken"


def test_without_limits_the_capacity_is_the_limit() -> None:
    script = Script(start=False)
    script.request(lambda name: ChangeEngineSettings(name, EngineSettings(parallel_limit=0), ("parallel_limit",)))
    script.apply(CapacityChanged(7, LITTLE))
    script.submit(*map(str, range(9)), settings=Settings(max_parallel=0))
    assert len(script.running_tasks()) == 7


def test_a_task_that_never_fits_starts_when_it_can_be_alone() -> None:
    fifo = Settings(order=Order.FIFO)
    script = with_capacity(2, "a", Task("heavy", slots=3), "b", settings=fifo)
    assert script.running_tasks() == ["a"]
    assert script.explain("heavy") == f"heavy is waiting: {LITTLE} (3 wanted)"
    assert started_tasks(script.exit_attempt("a")) == ["heavy"]
    assert script.state.slots == 3
    assert script.explain("b") == f"b is waiting: {LITTLE}"
    assert started_tasks(script.exit_attempt("heavy")) == ["b"]


def test_without_any_capacity_nothing_starts() -> None:
    script = with_capacity(0, "a")
    assert script.running_tasks() == []
    assert script.explain("a") == f"a is waiting: {LITTLE}"
    assert started_tasks(script.apply(CapacityChanged(1, LITTLE))) == ["a"]


def test_a_verification_needs_capacity_and_comes_before_new_tasks() -> None:
    script = with_capacity(1, "a", "b", settings=Settings(verify="make check"))
    assert started_tasks(script.exit_attempt("a")) == ["a"]
    assert script.status("a") == "verifying"
    script.apply(CapacityChanged(0, LITTLE))
    script.exit_attempt("a")
    assert script.explain("b") == f"b is waiting: {LITTLE}"


def test_a_new_engine_starts_without_the_old_capacity() -> None:
    script = with_capacity(0, "a")
    assert started_tasks(script.apply(EngineTaken(2))) == ["a"]


def test_a_new_engine_respects_a_capacity_reported_at_once() -> None:
    script = with_capacity(0, "a")
    assert started_tasks(script.apply(EngineTaken(2), CapacityChanged(0, LITTLE))) == []
    assert script.batch(BATCH).started_at is None
