"""Status counts equal the statuses of the tasks after every record of simulated histories."""

from __future__ import annotations

from collections import Counter

import pytest

from plait.core.explain import explain_status
from plait.core.reducers import evolve
from plait.core.state import BatchState, State
from plait.core.views import count_statuses
from plait.testing.simulator.engine import simulate
from plait.testing.simulator.scenario import make_stormy


def one_by_one(state: State, batch: BatchState) -> Counter[str]:
    asked = (task for task in batch.tasks if task.task.entrant is None)
    return Counter(explain_status(state, batch, task).status.value for task in asked)


@pytest.mark.parametrize("seed", range(12))
def test_status_counts_equal_the_statuses_of_the_tasks(seed: int) -> None:
    state = State()
    for record in simulate(make_stormy(seed)).journal:
        evolve(state, record)
        for batch in state.batches.values():
            told = {status.value: n for status, n in count_statuses(state, batch).items() if n}
            assert told == one_by_one(state, batch), (record, batch.settings)
