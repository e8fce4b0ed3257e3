"""Requests about one task: what each status allows, and which other tasks a retry takes up."""

from __future__ import annotations

from typing import assert_never

from plait.core.decisions import AboutRequest, RequestGranted, RequestRefused
from plait.core.requests import CancelTask, Drop, Feedback, Retry, TaskRequest
from plait.core.state import BatchState, TaskState
from plait.core.status import TaskStatus


def answer_for_task(batch: BatchState, task: TaskState, request: TaskRequest) -> AboutRequest:
    why = _why_not(batch, task, request)
    if why is not None:
        return RequestRefused(request.id, why)
    takes_up = isinstance(request, Retry | Feedback) and task.status is not None
    return RequestGranted(request.id, taken_up(batch, task) if takes_up else (task.task.id,))


def taken_up(batch: BatchState, task: TaskState) -> tuple[str, ...]:
    """The task, and those that nothing but it (or these) holds back: its dependents, and what its failure halted."""
    taken = {task.place: None}
    work = [task, *_halted_by(batch, task), *_shut_out(batch)]
    taken.update({other.place: None for other in work})
    while work:
        for place in work.pop().dependents:
            other = batch.tasks[place]
            if (
                place not in taken
                and other.status is TaskStatus.BLOCKED
                and _lost_needs(batch, other) <= taken.keys()
            ):
                taken[place] = None
                work.append(other)
    return tuple(batch.tasks[place].task.id for place in taken)


def _lost_needs(batch: BatchState, task: TaskState) -> set[int]:
    lost = (None, TaskStatus.DONE)
    return {place for place in batch.plan.needs[task.place] if batch.tasks[place].status not in lost}


def _root(task: TaskState) -> str:
    return task.by if task.status is TaskStatus.BLOCKED and task.by else task.task.id


def _halted_by(batch: BatchState, task: TaskState) -> list[TaskState]:
    if batch.halted != task.task.id:
        return []
    return [other for other in batch.tasks if other.status is TaskStatus.SKIPPED and other.by == task.task.id]


def _shut_out(batch: BatchState) -> list[TaskState]:
    """Tasks of phases that could not open: whether they can now is for the phases to say."""
    closed = (phase for phase in batch.phases.values() if not phase.open)
    members = (batch.tasks[place] for phase in closed for place in phase.members)
    return [other for other in members if other.status is TaskStatus.BLOCKED and other.by is None]


def _why_not(batch: BatchState, task: TaskState, request: TaskRequest) -> str | None:
    if task.doom is not None:
        return f"{task.task.id} is ending already: {task.doom.reason}"
    match request:
        case CancelTask():
            return f"{task.task.id} is {task.status.value} already" if task.status else None
        case Drop():
            return f"{task.task.id} is skipped already" if task.status is TaskStatus.SKIPPED else None
        case Retry():
            if task.status is None:
                return f"{task.task.id} has not ended"
            return _why_not_take_up(batch, task)
        case Feedback():
            return _why_not_listen(batch, task, request)
        case _:
            assert_never(request)


def _why_not_listen(batch: BatchState, task: TaskState, request: Feedback) -> str | None:
    if not request.text.strip():
        return "the feedback is empty"
    if task.status is not None:
        return _why_not_take_up(batch, task)
    if task.merging is not None or task.merged:
        return f"{task.task.id} is being merged: give it feedback when it is done"
    return None


def _why_not_take_up(batch: BatchState, task: TaskState) -> str | None:
    if batch.cancelled and batch.ended is None:
        return f"batch {batch.id} is being cancelled"
    if task.lost:
        causes = {
            cause: None for place in sorted(_lost_needs(batch, task)) if (cause := _root(batch.tasks[place]))
        }
        return f"{task.task.id} is {task.status}: retry {', '.join(causes)} instead"
    if task.status is not TaskStatus.DONE:
        return None
    others = (batch.tasks[place] for place in task.dependents)
    built = [other.task.id for other in others if other.status is TaskStatus.DONE or other.started]
    return f"{task.task.id} is done, and {', '.join(built)} builds on it: drop it instead" if built else None
