"""How many tasks of a batch stand where, at the price of a glance at each.

Law: it is what `standing` says of each task. Of tasks that nothing of their own holds back, those of one lane that want the
same slots stand alike, unless turns or money tell them apart: so one of them is asked for all.
"""

from __future__ import annotations

from plait.core.explain import standing
from plait.core.owed import Owed
from plait.core.ready import Lane
from plait.core.settings import Mode
from plait.core.state import BatchState, State, TaskState
from plait.core.status import TaskStatus
from plait.core.task import Step

Kin = dict[tuple[Lane, int], TaskStatus]


def count(state: State, batch: BatchState) -> dict[TaskStatus, int]:
    """Without entrants: of a contest, its task alone counts."""
    counts = dict.fromkeys(TaskStatus, 0)
    kin: Kin | None = {} if batch.settings.mode is not Mode.QUEUE and batch.settings.budget is None else None
    for task in batch.tasks:
        if task.task.entrant is None:
            counts[task.status or _status(state, batch, task, kin)] += 1
    return counts


def _status(state: State, batch: BatchState, task: TaskState, kin: Kin | None) -> TaskStatus:
    if kin is None or _begun(task) or task.doom is not None or task.interrupted is not None:
        return standing(state, batch, task).status
    if task.pending or task.closed:
        return TaskStatus.WAITING
    if task.owed is not Owed.START or task.not_before is not None or task.question is not None:
        return standing(state, batch, task).status
    if state.ready.waits_for((batch.id, task.place)) is not None:
        return TaskStatus.WAITING
    key = (task.lane, task.task.slots)
    if key not in kin:
        kin[key] = standing(state, batch, task).status
    return kin[key]


def _begun(task: TaskState) -> bool:
    return bool(task.alive) or task.step is not Step.WRITE or task.merging is not None or task.merged
