"""Files that tasks changed, and predicted conflicts.

A task holds locks for the files it changed until it ends, whatever it declared. No task waits for a file while it holds
another: after an exit it takes only free locks, and waits for all of them the next time it starts. A predicted
conflict is a warning to people; no decision follows from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plait.core.file_locks import FILE_PREFIX, list_enclosing_folders
from plait.core.reducers.task_index import scope_locks
from plait.core.reports import ConflictCleared, ConflictPredicted, ConflictPrediction, Outcome
from plait.core.settings import FileConflicts
from plait.core.state import BatchState, State, TaskState
from plait.core.status import Category

MAX_CHANGED_FILES = 64  # of a task that changes more files, the first ones


def record_change(state: State, batch: BatchState, task: TaskState, base: str, outcome: Outcome) -> None:
    """Record the change to merge after an exit; after a failed one, the last successful change may still count."""
    if outcome.category is Category.OK:
        task.tip = outcome.tip if outcome.tip != base else None
    elif outcome.category is Category.EMPTY:
        task.tip = None
    else:
        task.tip = outcome.tip or task.tip
    task.diffstat = outcome.diffstat or task.diffstat
    if outcome.files and _infers_files(batch) and task.task.entrant is None:
        _record_files(state, batch, task, outcome.files)


def _record_files(state: State, batch: BatchState, task: TaskState, files: tuple[str, ...]) -> None:
    files = files[:MAX_CHANGED_FILES]
    state.changed_files[task.task.key] = files
    file_locks = scope_locks(batch, tuple(FILE_PREFIX + file for file in files))
    plan_locks = scope_locks(batch, batch.plan.holds[task.index])
    task.learned_locks = tuple(sorted(set(file_locks).difference(plan_locks)))
    if task.holds_locks:
        wanted = dict.fromkeys((*task.learned_locks, *_list_folder_locks(batch, files)))
        free = tuple(lock for lock in wanted if state.start_queue.holder(lock) is None)
        state.start_queue.acquire((batch.id, task.index), free)
        task.locks += free


def recall_changed_files(state: State, batch: BatchState, task: TaskState) -> None:
    """Lock also the files that this task changed in an earlier batch without being done there."""
    files = state.changed_files.get(task.task.key) if _infers_files(batch) else None
    if files:
        file_locks = scope_locks(batch, tuple(FILE_PREFIX + file for file in files))
        task.learned_locks = tuple(sorted(set(file_locks).difference(task.locks)))
        task.locks += task.learned_locks


def _infers_files(batch: BatchState) -> bool:
    return batch.settings.file_conflicts is FileConflicts.INFERRED


def _list_folder_locks(batch: BatchState, files: tuple[str, ...]) -> Iterator[str]:
    """Yield the locks of the folders named in the plan that contain these files, because a task that touches such a
    folder must wait as well.
    """
    folders = {folder: None for file in files for folder in list_enclosing_folders(file.rpartition("/")[0])}
    held = scope_locks(batch, tuple(FILE_PREFIX + folder for folder in folders))
    return (lock for lock in held if lock in batch.plan_locks)


def apply_conflict_prediction(state: State, _at: float, report: ConflictPrediction) -> None:
    _, task = state.find_task(report.batch, report.task)
    _, other = state.find_task(report.batch, report.other)
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
    """Remove the task's predicted conflicts, on both sides, because it has ended or starts over."""
    for name in task.predicted_conflicts:
        other = batch.find_task(name)
        if other is not None:
            other.predicted_conflicts.pop(task.task.id, None)
    task.predicted_conflicts.clear()
