"""The chronicle of all batches says of each what its records alone say."""

from __future__ import annotations

from functools import cache

import pytest

from plait.client.history import HistoryIndex, read_history
from plait.client.timeline import describe_timeline
from plait.core.events import Record
from plait.core.reducers import evolve
from plait.core.requests import Pause
from plait.core.state import State
from plait.core.task import Step
from plait.testing.script import BATCH, Script
from plait.testing.simulator.engine import simulate
from plait.testing.simulator.scenario import make_stormy


@cache
def simulate_history(seed: int) -> tuple[HistoryIndex, State, tuple[Record, ...]]:
    index, state, records = HistoryIndex(), State(), tuple(simulate(make_stormy(seed)).journal)
    for record in records:
        index.apply(record)
        evolve(state, record)
    return index, state, records


@pytest.mark.parametrize("seed", range(6))
def test_the_index_has_the_same_history_as_one_batch_alone(seed: int) -> None:
    index, state, records = simulate_history(seed)
    assert state.batches
    for batch in state.batches.values():
        found = index.get_batch(batch.id)
        alone = read_history(records, batch.id)
        assert found == alone
        assert describe_timeline(found) == describe_timeline(alone)


@pytest.mark.parametrize("seed", range(6))
def test_each_attempt_has_its_outcome_and_base(seed: int) -> None:
    index, state, _ = simulate_history(seed)
    for batch in state.batches.values():
        for task in batch.tasks:
            made = index.get_batch(batch.id).list_attempts(task.task.id)
            assert len(made) == sum(task.attempt_counts.get(step, 0) for step in (Step.WRITE, Step.VERIFY))
            assert [each.attempt for each in made if each.outcome is None] == list(task.alive)
            if task.last is not None:
                assert (made[-1].attempt, made[-1].base) == (task.last.name, task.last.decision.base)


def test_answered_requests_are_not_kept() -> None:
    index, script = HistoryIndex(), Script("a")
    script.request(lambda name: Pause(name, BATCH))
    script.request(lambda name: Pause(name, "nobody"))
    for record in script.records:
        index.apply(record)
    assert not index._unanswered


def test_an_unknown_batch_has_an_empty_history() -> None:
    found = HistoryIndex().get_batch("nobody")
    assert (found.list_attempts("a"), found.find_deciding_gate("a"), found.tasks) == (
        [],
        None,
        {},
    )
