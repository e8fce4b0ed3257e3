"""Storms, replayed record by record: the indexes are what a recount gives, and every task can say why."""

from __future__ import annotations

from functools import cache

import pytest

from plait.core.decisions import AttemptStarted
from plait.core.estimate import forecast_batch
from plait.core.events import Record
from plait.core.explain import explain_in_words, explain_status
from plait.core.reducers import evolve
from plait.core.scheduler.rules import list_due
from plait.core.scheduler.starts import schedule_starts
from plait.core.state import State, copy_state
from plait.testing.simulator.engine import simulate
from plait.testing.simulator.scenario import make_stormy
from tests.support.index_check import find_index_errors

SEEDS = range(12)


@cache
def journal(seed: int) -> tuple[Record, ...]:
    return simulate(make_stormy(seed)).journal


@pytest.mark.parametrize("seed", SEEDS)
def test_the_indexes_are_what_a_recount_gives(seed: int) -> None:
    state = State()
    for record in journal(seed):
        evolve(state, record)
        assert find_index_errors(state) == [], record


@pytest.mark.parametrize("seed", SEEDS)
def test_every_task_in_every_state_says_why(seed: int) -> None:
    state = State()
    for record in journal(seed):
        evolve(state, record)
        for batch in state.batches.values():
            for task in batch.tasks:
                assert explain_status(state, batch, task).reason.strip()
                assert "\n" not in explain_in_words(state, batch, task)


@pytest.mark.parametrize("seed", SEEDS)
def test_previewing_requests_changes_nothing(seed: int) -> None:
    state = State()
    for record in journal(seed):
        evolve(state, record)
        if record.seq % 40:
            continue
        before = list(list_due(state))
        for name in state.batches:
            forecast_batch(state, name, record.at)
        assert list(list_due(state)) == before
        assert list(list_due(copy_state(state))) == before
        assert find_index_errors(state) == []


@pytest.mark.parametrize("seed", SEEDS)
def test_a_task_is_said_to_start_next_exactly_when_the_scheduler_would_start_it(seed: int) -> None:
    state = State()
    for record in journal(seed):
        evolve(state, record)
        decision = next(schedule_starts(state), None)
        started = decision.attempt if isinstance(decision, AttemptStarted) else None
        for batch in state.open.values():
            for task in batch.tasks:
                says_next = explain_status(state, batch, task).reason == "starts next"
                would_start = started is not None and (batch.id, task.task.id) == (started.batch, started.task)
                assert says_next == would_start, explain_in_words(state, batch, task)
