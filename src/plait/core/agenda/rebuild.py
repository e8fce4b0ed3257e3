"""What was merged and is no longer wanted is taken out of the batch branch, by making it anew without it."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.agenda.due import Due, now
from plait.core.decisions import RebuildStarted
from plait.core.state import BatchState, State


def owed(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        if batch.unwanted and batch.rebuild is None and batch.merging is None:
            without = tuple(batch.tasks[place].task.id for place in sorted(batch.unwanted))
            yield now(RebuildStarted(batch.id, batch.rebuilds + 1, without))


def line_stands(batch: BatchState) -> bool:
    """Nothing is being taken out of the branch, and nothing has to be."""
    return batch.rebuild is None and not batch.unwanted
