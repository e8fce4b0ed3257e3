"""Conflicts that are foreseen between tasks at work, or with the branch: a warning to people. No decision follows."""

from __future__ import annotations

from typing import assert_never

from plait.core.reports import ConflictCleared, ConflictForeseen, Foresight
from plait.core.state import BatchState, State, TaskState


def reported(state: State, _at: float, report: Foresight) -> None:
    batch = state.batches.get(report.batch)
    task = batch.task(report.task) if batch is not None else None
    other = batch.task(report.other) if batch is not None and report.other else None
    if task is None or task is other or (report.other and other is None):
        return
    match report:
        case ConflictForeseen():
            if task.status is None and (other is None or other.status is None):
                task.foreseen[report.other] = report.files
                if other is not None:
                    other.foreseen[report.task] = report.files
        case ConflictCleared():
            task.foreseen.pop(report.other, None)
            if other is not None:
                other.foreseen.pop(report.task, None)
        case _:
            assert_never(report)


def forget(batch: BatchState, task: TaskState) -> None:
    """What it would have been merged as is not so any more: it has ended, or begins anew."""
    for name in task.foreseen:
        other = batch.task(name)
        if other is not None:
            other.foreseen.pop(task.task.id, None)
    task.foreseen.clear()
