"""Attempts: started, in another of their phases, asking. What their exit means is told when it has been judged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plait.client.record_context import RecordContext
from plait.client.stream_event import EventType, StreamEvent
from plait.core.decisions import AttemptDecision, AttemptEnding, AttemptStarted, StepPassed
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
)
from plait.core.state import TaskState
from plait.core.task import Step


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


def _map_attempt_started(
    context: RecordContext, task: TaskState, decision: AttemptStarted
) -> Iterator[StreamEvent]:
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
