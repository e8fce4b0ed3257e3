"""A batch ends when every task has ended, nothing is under way or owed, and what it publishes was seen to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from plait.core.decisions import BatchEnded
from plait.core.decisions__due import Due, due_now
from plait.core.scheduler.batches import needs_publishing
from plait.core.scheduler.batches__over import is_finished
from plait.core.state import BatchState, State
from plait.core.status import BatchStatus, TaskStatus


def schedule_batch_ends(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        if batch.publishing is None and is_finished(batch) and not needs_publishing(batch):
            yield due_now(_end_batch(batch))


def _end_batch(batch: BatchState) -> BatchEnded:
    """Of a contest, its task alone counts."""
    asked = [task for task in batch.tasks if task.task.entrant is None]
    tally = dict.fromkeys(batch.status_counts, 0) | Counter(
        task.status for task in asked if task.status is not None
    )
    done = tally.get(TaskStatus.DONE, 0)
    counts = ", ".join(
        f"{count} {status.value.replace('_', ' ')}" for status, count in tally.items() if count
    )
    dropped = sum(task.status is TaskStatus.SKIPPED and task.by is None for task in asked)
    if batch.cancelled:
        status = BatchStatus.CANCELLED
    else:
        status = BatchStatus.COMPLETED if done + dropped == len(asked) else BatchStatus.FAILED
    unpublished = f"; not published: {batch.publish_failure.why}" if batch.publish_failure else ""
    return BatchEnded(batch.id, status, counts + unpublished)
