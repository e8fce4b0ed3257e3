"""How many tasks of a batch stand where, at the price of a glance at each.

Law: it is what `standing` says of each task. Of tasks that nothing of their own holds back, those of one lane that want the
same slots stand alike, unless turns or money tell them apart: so one of them is asked for all.
"""

from __future__ import annotations

from plait.core.explain import explain_status
from plait.core.settings import Mode
from plait.core.start_queue import QueueKey
from plait.core.state import BatchState, State, TaskState
from plait.core.status import TaskStatus
from plait.core.status__owed import NextAction
from plait.core.task import Step

_StatusByQueue = dict[tuple[QueueKey, int], TaskStatus]


def count_statuses(state: State, batch: BatchState) -> dict[TaskStatus, int]:
    """Without entrants: of a contest, its task alone counts."""
    counts = dict.fromkeys(TaskStatus, 0)
    kin: _StatusByQueue | None = (
        {} if batch.settings.mode is not Mode.QUEUE and batch.settings.budget is None else None
    )
    for task in batch.tasks:
        if task.task.entrant is None:
            counts[task.status or _find_status(state, batch, task, kin)] += 1
    return counts


def _find_status(state: State, batch: BatchState, task: TaskState, kin: _StatusByQueue | None) -> TaskStatus:
    if kin is None or _is_begun(task) or task.pending_end is not None or task.interrupted is not None:
        return explain_status(state, batch, task).status
    if task.pending_needs or task.phase_closed:
        return TaskStatus.WAITING
    if task.next_action is not NextAction.START or task.not_before is not None or task.question is not None:
        return explain_status(state, batch, task).status
    if state.start_queue.blocking_lock((batch.id, task.place)) is not None:
        return TaskStatus.WAITING
    key = (task.queue_key, task.task.slots)
    if key not in kin:
        kin[key] = explain_status(state, batch, task).status
    return kin[key]


def _is_begun(task: TaskState) -> bool:
    return bool(task.alive) or task.step is not Step.WRITE or task.merging is not None or task.is_merged
