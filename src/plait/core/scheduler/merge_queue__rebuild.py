"""What was merged and is no longer wanted is taken out of the batch branch, by making it anew without it."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.decisions import BatchPaused, RebuildStarted
from plait.core.decisions__due import Due, due_now
from plait.core.retry_policy import MAX_REBUILD_TRIES
from plait.core.state import BatchState, State
from plait.core.status import PauseCause


def schedule_rebuilds(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        if not batch.merges_to_drop or batch.rebuild is not None or batch.merging is not None:
            continue
        if batch.rebuild_failures < MAX_REBUILD_TRIES:
            yield due_now(_start_rebuild(batch))
        elif batch.paused is None:
            why = f"the batch branch could not be made anew {MAX_REBUILD_TRIES} times in a row: {batch.rebuild_error}"
            yield due_now(BatchPaused(batch.id, PauseCause.BRANCH, why))


def _start_rebuild(batch: BatchState) -> RebuildStarted:
    without = tuple(batch.tasks[place].task.id for place in sorted(batch.merges_to_drop))
    line = tuple(entry.change for entry in batch.merges if entry.place not in batch.merges_to_drop)
    return RebuildStarted(batch.id, batch.rebuilds + 1, without, line)


def is_branch_stable(batch: BatchState) -> bool:
    """Nothing is being taken out of the branch, and nothing has to be."""
    return batch.rebuild is None and not batch.merges_to_drop
