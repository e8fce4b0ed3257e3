"""What was merged and is no longer wanted is taken out of the batch branch, by making it anew without it."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.agenda.due import Due, now
from plait.core.decisions import BatchPaused, RebuildStarted
from plait.core.policy import REBUILD_TRIES
from plait.core.state import BatchState, State
from plait.core.status import PauseCause


def owed(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        if not batch.unwanted or batch.rebuild is not None or batch.merging is not None:
            continue
        if batch.rebuild_failures < REBUILD_TRIES:
            yield now(_rebuild(batch))
        elif batch.paused is None:
            why = f"the batch branch could not be made anew {REBUILD_TRIES} times in a row: {batch.rebuild_error}"
            yield now(BatchPaused(batch.id, PauseCause.BRANCH, why))


def _rebuild(batch: BatchState) -> RebuildStarted:
    without = tuple(batch.tasks[place].task.id for place in sorted(batch.unwanted))
    line = tuple(entry.change for entry in batch.line if entry.place not in batch.unwanted)
    return RebuildStarted(batch.id, batch.rebuilds + 1, without, line)


def line_stands(batch: BatchState) -> bool:
    """Nothing is being taken out of the branch, and nothing has to be."""
    return batch.rebuild is None and not batch.unwanted
