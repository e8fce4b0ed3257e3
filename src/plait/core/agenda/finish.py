"""A batch ends when every task has ended and nothing is under way or owed."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.agenda.due import Due, now
from plait.core.agenda.gate import ungated
from plait.core.agenda.rebuild import line_stands
from plait.core.decisions import BatchEnded
from plait.core.owed import Owed
from plait.core.state import BatchState, State
from plait.core.status import BatchStatus, TaskStatus


def owed(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        if batch.unsettled == 0 and not batch.alive and _line_is_quiet(batch) and not _owes(batch):
            yield now(_end(batch))


def _line_is_quiet(batch: BatchState) -> bool:
    return line_stands(batch) and batch.merging is None and batch.gate is None and not ungated(batch)


def _owes(batch: BatchState) -> bool:
    return any(batch.owed[owed] for owed in (Owed.END, Owed.SETTLE, Owed.JUDGE, Owed.FINISH))


def _end(batch: BatchState) -> BatchEnded:
    done = batch.tally.get(TaskStatus.DONE, 0)
    total = len(batch.tasks)
    counts = ", ".join(
        f"{count} {status.value.replace('_', ' ')}" for status, count in batch.tally.items() if count
    )
    dropped = sum(task.status is TaskStatus.SKIPPED and task.by is None for task in batch.tasks)
    if batch.cancelled:
        status = BatchStatus.CANCELLED
    else:
        status = BatchStatus.COMPLETED if done + dropped == total else BatchStatus.FAILED
    return BatchEnded(batch.id, status, counts)
