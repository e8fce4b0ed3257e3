"""Stream events of tasks: decisions, attempts and predicted conflicts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plait.client.json_encoding import to_iso
from plait.client.record_context import RecordContext
from plait.client.stream_event import EventFields, EventType, StreamEvent
from plait.core.decisions import (
    AnswerAwaited,
    AttemptDecision,
    AttemptEnding,
    AttemptStarted,
    BackoffEnded,
    RetryGranted,
    StepPassed,
    TaskDecision,
    TaskEnded,
    TaskInterrupted,
)
from plait.core.reports import (
    AttemptActive,
    AttemptAsked,
    AttemptEnd,
    AttemptExited,
    AttemptLaunched,
    AttemptLost,
    AttemptPhase,
    AttemptProgress,
    AttemptSession,
    AttemptUsed,
    ConflictCleared,
    ConflictPredicted,
    ConflictPrediction,
)
from plait.core.state import BatchState, TaskState
from plait.core.status import TaskStatus
from plait.core.task import Step

_END_EVENTS = {
    TaskStatus.DONE: EventType.TASK_COMPLETED,
    TaskStatus.FAILED: EventType.TASK_FAILED,
    TaskStatus.TIMED_OUT: EventType.TASK_TIMED_OUT,
    TaskStatus.BLOCKED: EventType.TASK_BLOCKED,
    TaskStatus.SKIPPED: EventType.TASK_SKIPPED,
    TaskStatus.CONFLICTED: EventType.TASK_CONFLICTED,
    TaskStatus.CANCELLED: EventType.TASK_CANCELLED,
}


def map_task_decision(context: RecordContext, decision: TaskDecision) -> Iterator[StreamEvent]:
    batch, task = context.batch, context.task
    if batch is None or task is None:
        return
    match decision:
        case RetryGranted():
            context.update_status(task)
            # `at` is when this was decided, as in every event.
            yield context.make_event(
                EventType.TASK_RETRY,
                task,
                retryAt=to_iso(decision.at),
                why=decision.why,
                category=decision.category,
                counted=decision.counted,
            )
        case BackoffEnded():
            yield from context.make_waiting_events([task.place])
        case AnswerAwaited():
            context.update_status(task)
            yield context.make_event(EventType.TASK_NEEDS_INPUT, task, question=decision.question)
        case TaskInterrupted():
            context.update_status(task)
            yield context.make_event(EventType.TASK_INTERRUPTED, task, reason=decision.reason)
        case TaskEnded():
            # What was done can still be dropped, or be found guilty by the gate.
            if task.status is not None and task.status is not context.before.status:
                yield from _map_task_end(context, batch, task, decision)
        case _:
            assert_never(decision)


def _map_task_end(
    context: RecordContext, batch: BatchState, task: TaskState, decision: TaskEnded
) -> Iterator[StreamEvent]:
    context.update_status(task)
    yield context.make_event(_END_EVENTS[decision.status], task, **_end_fields(context, decision))
    yield from context.make_waiting_events(place for place in task.dependents if not batch.tasks[place].pending_needs)
    yield from context.make_queue_head_events()
    yield from context.make_progress_events()


def _end_fields(context: RecordContext, decision: TaskEnded) -> EventFields:
    match decision.status:
        case TaskStatus.FAILED | TaskStatus.TIMED_OUT:
            return {"reason": decision.reason, "error": decision.reason, "category": decision.category}
        case TaskStatus.CONFLICTED:
            return {"reason": decision.reason, "files": context.before.clash}
        case TaskStatus.BLOCKED | TaskStatus.SKIPPED:
            return {"reason": decision.reason, "by": decision.by}
        case _:
            return {"reason": decision.reason}


def map_attempt_decision(context: RecordContext, decision: AttemptDecision) -> Iterator[StreamEvent]:
    task = context.task
    if task is None:
        return
    context.update_status(task)
    match decision:
        case AttemptStarted():
            if context.before.attempt is None and decision.attempt in task.alive:
                yield from _map_attempt_started(context, task, decision)
        case StepPassed():
            if decision.attempt.step is Step.VERIFY:
                yield context.make_event(EventType.TASK_VERIFIED, task)
        case AttemptEnding():
            return
        case _:
            assert_never(decision)


def _map_attempt_started(context: RecordContext, task: TaskState, decision: AttemptStarted) -> Iterator[StreamEvent]:
    if not context.before.begun:
        yield context.make_event(EventType.BATCH_STARTED, again=False)
    title = task.task.title
    if decision.attempt.step is Step.VERIFY:
        yield context.make_event(EventType.TASK_VERIFYING, task, title=title, command=decision.command)
    else:
        yield context.make_event(EventType.TASK_STARTED, task, title=title, agent=decision.agent)


def map_attempt_sign(context: RecordContext, report: AttemptProgress) -> Iterator[StreamEvent]:
    before, task = context.before, context.task
    if task is None or before.attempt is None:
        return
    context.update_status(task)
    match report:
        case AttemptPhase():
            if report.name != before.phase:
                yield context.make_event(EventType.TASK_PHASE, task, phase=report.name)
        case AttemptAsked():
            if report.question != before.question:
                yield context.make_event(EventType.TASK_NEEDS_INPUT, task, question=report.question)
        case AttemptLaunched() | AttemptActive() | AttemptUsed() | AttemptSession():
            return
        case _:
            assert_never(report)


def map_attempt_exit(context: RecordContext, report: AttemptEnd) -> Iterator[StreamEvent]:
    if context.task is not None:
        context.update_status(context.task)
    match report:
        case AttemptExited() | AttemptLost():
            yield from ()
        case _:
            assert_never(report)


def map_conflict_prediction(context: RecordContext, report: ConflictPrediction) -> Iterator[StreamEvent]:
    task, known = context.task, context.before.foreseen
    if task is None:
        return
    match report:
        case ConflictPredicted():
            files = task.predicted_conflicts.get(report.other, ())
        case ConflictCleared():
            files = ()
        case _:
            assert_never(report)
    if files != known.get(report.other, ()):
        yield from context.make_progress_events(task, conflictsWith=report.other or None, files=files)
