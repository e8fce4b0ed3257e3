"""Tasks end that a request ended, or that need something which will not come. Independent ones go on."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.agenda.due import Due, now
from plait.core.agenda.phase import shut_out
from plait.core.contest import unwinnable
from plait.core.decisions import TaskEnded
from plait.core.owed import Owed
from plait.core.state import BatchState, State, TaskState
from plait.core.status import TaskStatus

VERBS = {
    TaskStatus.FAILED: "failed",
    TaskStatus.TIMED_OUT: "timed out",
    TaskStatus.BLOCKED: "is blocked",
    TaskStatus.SKIPPED: "was skipped",
    TaskStatus.CONFLICTED: "conflicted",
    TaskStatus.CANCELLED: "was cancelled",
}


def owed(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        for place in batch.owed[Owed.SETTLE]:
            yield now(_end(batch, batch.tasks[place]))


def _end(batch: BatchState, task: TaskState) -> TaskEnded:
    if task.doom is not None:
        return TaskEnded(batch.id, task.task.id, task.doom.status, task.doom.reason, by=task.doom.by)
    need = next((other for other in _needs(batch, task) if other.status in VERBS), None)
    shut = task.closed and task.task.phase in batch.hopeless
    if need is None and not shut and unwinnable(batch, task):
        return TaskEnded(batch.id, task.task.id, TaskStatus.FAILED, _unwon(batch, task))
    if need is None:
        return TaskEnded(batch.id, task.task.id, TaskStatus.BLOCKED, shut_out(batch, task))
    assert need.status is not None
    root = need.by if need.status is TaskStatus.BLOCKED and need.by else need.task.id
    reason = f"needs {need.task.id}, which {VERBS[need.status]}"
    if root != need.task.id:
        reason += f" by {root}"
    return TaskEnded(batch.id, task.task.id, TaskStatus.BLOCKED, reason, by=root)


def _needs(batch: BatchState, task: TaskState) -> Iterator[TaskState]:
    needs = (place for place in batch.plan.needs[task.place] if place not in task.entrants)
    return (batch.tasks[place] for place in needs)


def _unwon(batch: BatchState, task: TaskState) -> str:
    told = []
    for entrant in (batch.tasks[place] for place in task.entrants):
        how = "was chosen, and its change did not pass on what is merged by now"
        told.append(f"{entrant.task.id} {VERBS.get(entrant.status or TaskStatus.DONE, how)}")
    return f"none of its entrants is left: {'; '.join(told)}"
