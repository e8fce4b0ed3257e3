"""Conflicts that are foreseen between tasks at work, or with the branch: a warning to people. No decision follows."""

from __future__ import annotations

from typing import assert_never

from plait.core.reports import ConflictCleared, ConflictPredicted, ConflictPrediction
from plait.core.state import BatchState, State, TaskState


def apply_conflict_prediction(state: State, _at: float, report: ConflictPrediction) -> None:
    batch = state.batches.get(report.batch)
    task = batch.find_task(report.task) if batch is not None else None
    other = batch.find_task(report.other) if batch is not None and report.other else None
    if task is None or task is other or (report.other and other is None):
        return
    match report:
        case ConflictPredicted():
            if task.status is None and (other is None or other.status is None):
                task.predicted_conflicts[report.other] = report.files
                if other is not None:
                    other.predicted_conflicts[report.task] = report.files
        case ConflictCleared():
            task.predicted_conflicts.pop(report.other, None)
            if other is not None:
                other.predicted_conflicts.pop(report.task, None)
        case _:
            assert_never(report)


def clear_predictions(batch: BatchState, task: TaskState) -> None:
    """What it would have been merged as is not so any more: it has ended, or begins anew."""
    for name in task.predicted_conflicts:
        other = batch.find_task(name)
        if other is not None:
            other.predicted_conflicts.pop(task.task.id, None)
    task.predicted_conflicts.clear()
