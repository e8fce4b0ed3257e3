"""evolve is total and deterministic, and its indexes equal a recount for any list of records."""

from __future__ import annotations

import typing

import pytest
from hypothesis import given, settings, strategies as st

from plait.core import decisions, reports, requests
from plait.core.events import Event, Record
from plait.core.plan import Plan
from plait.core.reducers import HANDLERS, evolve
from plait.core.requests import Submit
from plait.core.scheduler.rules import list_due
from plait.core.settings import EngineSettings, Settings
from plait.core.state import State, copy_state
from plait.core.status import Category
from plait.core.task import Attempt, Phase, Step, Task
from plait.core.views import make_batch_view
from plait.store import codec
from plait.testing.script import Script, task_needing
from tests.support.index_check import find_index_errors

IDS = st.sampled_from(["a", "b", "c", "b1", "b2", "zz", "one", "r1", "r2", "r3", "shell"])
SMALL = st.integers(0, 4)
PLANS = st.sampled_from(
    [
        Plan((Task("a"), Task("b")), ((), (0,)), ((), ("file:x",)), (2.0, 1.0)),
        Plan(
            (Task("a", phase="one"), Task("b", phase="two"), Task("c", touches=("x",))),
            ((), (), (0,)),
            (("file:x",), (), ("file:x",)),
            (2.0, 1.0, 1.0),
            (Phase("one", total=1), Phase("two", after=("one",), total=1)),
        ),
        Plan((Task("a"), Task("b")), ((), (5,)), ((),), (2.0, 1.0)),  # what no plait would write
    ]
)


def strategy(event: type[Event]) -> st.SearchStrategy[Event]:
    """Any event of this type, with ids from a small pool so that they meet."""
    hints = typing.get_type_hints(event)
    special: dict[str, st.SearchStrategy[object]] = {
        "plan": PLANS,
        "settings": st.builds(EngineSettings)
        if event is requests.ChangeEngineSettings
        else st.builds(Settings, gate=st.sampled_from([None, "g"])),
        "fields": st.sampled_from([(), ("max_parallel",), ("gate",), ("order",), ("agents",), ("parallel_limit",)]),
        "attempt": st.builds(Attempt, IDS, IDS, st.sampled_from(Step), SMALL),
        "tasks": st.lists(IDS, max_size=3).map(tuple),
        "outcome": st.builds(reports.Outcome, st.sampled_from(Category), tip=st.none() | st.just("t"), peak=SMALL),
        "line": st.lists(st.builds(reports.MergedTask, IDS, IDS), max_size=3).map(tuple),
        "changes": st.lists(st.tuples(IDS, st.none() | IDS), max_size=3).map(tuple),
        "clashes": st.lists(st.builds(reports.RebuildConflict, IDS, st.just(("x",))), max_size=2).map(tuple),
    }
    plain: dict[object, st.SearchStrategy[object]] = {str: IDS, int: SMALL, float: st.floats(0, 1000)}
    chosen = {name: special.get(name, plain.get(hint, st.nothing())) for name, hint in hints.items()}
    return st.builds(event, **{name: made for name, made in chosen.items() if not made.is_empty})


EVENTS = st.one_of([strategy(event) for event in codec.EVENT_TYPES.values()])
HISTORIES = st.lists(EVENTS, max_size=30)


def fold(events: list[Event]) -> State:
    state = State()
    plan = Plan((Task("a"), Task("b")), ((), (0,)), ((), ()), (2.0, 1.0))
    begun: list[Event] = [Submit("r0", "b1", plan, Settings())]
    for seq, event in enumerate([*begun, decisions.RequestGranted("r0"), *events], 1):
        evolve(state, Record(seq, float(seq), event))
    return state


@given(HISTORIES)
def test_no_list_of_records_makes_the_fold_fail(events: list[Event]) -> None:
    state = fold(events)
    list(list_due(state))
    assert find_index_errors(state) == []
    for batch in state.batches.values():
        make_batch_view(state, batch)


@settings(max_examples=50)
@given(HISTORIES)
def test_the_same_records_give_the_same_due_decisions(events: list[Event]) -> None:
    assert list(list_due(fold(events))) == list(list_due(fold(events)))


def test_every_kind_of_event_has_a_handler() -> None:
    assert set(HANDLERS) == set(codec.EVENT_TYPES.values())


@pytest.mark.parametrize("kind", sorted(codec.EVENT_TYPES))
def test_the_strategy_generates_every_kind_of_event(kind: str) -> None:
    assert not strategy(codec.EVENT_TYPES[kind]).is_empty


def test_a_copied_state_is_equal_and_independent() -> None:
    script = Script("a", task_needing("b", "a"), "c", settings=Settings(verify="v"))
    script.exit_attempt("a")
    before = list(list_due(script.state))
    twin = copy_state(script.state)
    assert list(list_due(twin)) == before
    view = make_batch_view(script.state, script.batch())
    for decided in (
        reports.AttemptExited(name, reports.Outcome(Category.OK, tip="t")) for name in list(twin.batches["b1"].alive)
    ):
        evolve(twin, Record(twin.seq + 1, twin.now + 1, decided))
    assert make_batch_view(script.state, script.batch()) == view
    assert list(list_due(script.state)) == before


def test_a_new_engine_is_recorded_with_its_time_and_without_old_readings() -> None:
    script = Script("a")
    script.apply(reports.PressureChanged("the disk is full"), reports.CapacityChanged(1, "little memory left"))
    script.apply(reports.EngineTaken(7))
    state = script.state
    assert state.engine == reports.EngineTaken(7)
    assert (state.pressure, state.capacity) == (None, None)
    script.apply(reports.EngineReleased(7))
    assert script.state.engine is None
