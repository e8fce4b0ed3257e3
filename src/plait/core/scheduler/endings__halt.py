"""With stop-on-fail, and for a conflict where conflicts fail the batch, one failure stops all that has not started."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.decisions import BatchHalted
from plait.core.decisions__due import Due, due_now
from plait.core.scheduler.endings import END_VERBS
from plait.core.settings import OnConflict
from plait.core.state import BatchState, State, TaskState
from plait.core.status import TaskStatus


def schedule_halts(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        failed = _find_halting_task(batch) if batch.failures and batch.halted_by is None else None
        if failed is not None and failed.status is not None:
            why = f"the batch stopped because {failed.task.id} {END_VERBS[failed.status]}"
            yield due_now(BatchHalted(batch.id, failed.task.id, why))


def _find_halting_task(batch: BatchState) -> TaskState | None:
    """The first failure that stops this batch by its settings."""
    failed = (batch.tasks[place] for place in batch.failures)
    if batch.settings.stop_on_fail:
        return next(failed)
    if batch.settings.on_conflict is not OnConflict.FAIL or not batch.status_counts.get(
        TaskStatus.CONFLICTED
    ):
        return None
    return next(task for task in failed if task.status is TaskStatus.CONFLICTED)
