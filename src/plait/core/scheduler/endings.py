"""Tasks end that a request ended, or that need something which will not come. Independent ones go on."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.contest import is_unwinnable
from plait.core.decisions import TaskEnded
from plait.core.decisions__due import Due, due_now
from plait.core.scheduler.batches__phase import why_phase_blocked
from plait.core.state import BatchState, State, TaskState
from plait.core.status import TaskStatus
from plait.core.status__owed import NextAction

END_VERBS = {
    TaskStatus.FAILED: "failed",
    TaskStatus.TIMED_OUT: "timed out",
    TaskStatus.BLOCKED: "is blocked",
    TaskStatus.SKIPPED: "was skipped",
    TaskStatus.CONFLICTED: "conflicted",
    TaskStatus.CANCELLED: "was cancelled",
}


def schedule_task_ends(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        for place in batch.tasks_by_action[NextAction.END_TASK]:
            yield due_now(_end_task(batch, batch.tasks[place]))


def _end_task(batch: BatchState, task: TaskState) -> TaskEnded:
    if task.pending_end is not None:
        return TaskEnded(
            batch.id, task.task.id, task.pending_end.status, task.pending_end.reason, by=task.pending_end.by
        )
    need = next((other for other in _needs(batch, task) if other.status in END_VERBS), None)
    shut = task.phase_closed and task.task.phase in batch.unopenable_phases
    if need is None and not shut and is_unwinnable(batch, task):
        return TaskEnded(batch.id, task.task.id, TaskStatus.FAILED, _describe_lost_contest(batch, task))
    if need is None:
        return TaskEnded(batch.id, task.task.id, TaskStatus.BLOCKED, why_phase_blocked(batch, task))
    assert need.status is not None
    root = need.by if need.status is TaskStatus.BLOCKED and need.by else need.task.id
    reason = f"needs {need.task.id}, which {END_VERBS[need.status]}"
    if root != need.task.id:
        reason += f" by {root}"
    return TaskEnded(batch.id, task.task.id, TaskStatus.BLOCKED, reason, by=root)


def _needs(batch: BatchState, task: TaskState) -> Iterator[TaskState]:
    needs = (place for place in batch.plan.needs[task.place] if place not in task.entrants)
    return (batch.tasks[place] for place in needs)


def _describe_lost_contest(batch: BatchState, task: TaskState) -> str:
    told = []
    for entrant in (batch.tasks[place] for place in task.entrants):
        how = "was chosen, and its change did not pass on what is merged by now"
        told.append(f"{entrant.task.id} {END_VERBS.get(entrant.status or TaskStatus.DONE, how)}")
    return f"none of its entrants is left: {'; '.join(told)}"
