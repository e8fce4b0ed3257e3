"""After a restart: which decisions are on disk while their result is not.

For each of them the world is asked first. What has a result is reported, what is under way is adopted, and what never
began is performed again; performing is idempotent, so asking too much does no harm.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.decisions import (
    AttemptEnding,
    Decision,
    GateEnding,
    MergeStarted,
)
from plait.core.state import BatchState, State
from plait.core.task import Step


def list_outstanding(state: State) -> list[Decision]:
    of_batches = [decision for batch in state.open.values() for decision in _outstanding_of_batch(batch)]
    shipping = [
        batch.publishing for batch in state.publishing_batches.values() if batch.publishing is not None
    ]
    return [*of_batches, *shipping]


def _outstanding_of_batch(batch: BatchState) -> Iterator[Decision]:
    for attempt in batch.alive.values():
        yield attempt.decision
        if attempt.ending is not None:
            yield AttemptEnding(attempt.name, attempt.ending, attempt.ending_now)
    if batch.merging is not None:
        task = batch.tasks[batch.merging]
        n = task.attempt_counts[Step.MERGE]
        yield MergeStarted(batch.id, task.task.id, n, task.base or "", task.tip or "", batch.head)
    if batch.rebuild is not None:
        yield batch.rebuild
    if batch.gate is not None:
        yield batch.gate.decision
        if batch.gate.ending is not None:
            yield GateEnding(batch.id, batch.gate.n, batch.gate.ending)
