"""Attempts: started, in another of their phases, asking. What their exit means is told when it has been judged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plait.core.decisions import AboutAttempt, AttemptEnding, AttemptStarted, StepPassed
from plait.core.reports import (
    AttemptActive,
    AttemptAsked,
    AttemptExited,
    AttemptLaunched,
    AttemptLost,
    AttemptOver,
    AttemptPhase,
    AttemptSession,
    AttemptSign,
    AttemptUsed,
)
from plait.core.state import TaskState
from plait.core.task import Step
from plait.front.event import Event, EventType
from plait.front.moment import Moment


def decided(moment: Moment, decision: AboutAttempt) -> Iterator[Event]:
    task = moment.task
    if task is None:
        return
    moment.note(task)
    match decision:
        case AttemptStarted():
            if moment.before.attempt is None and decision.attempt in task.alive:
                yield from _started(moment, task, decision)
        case StepPassed():
            if decision.attempt.step is Step.VERIFY:
                yield moment.tell(EventType.TASK_VERIFIED, task)
        case AttemptEnding():
            return
        case _:
            assert_never(decision)


def _started(moment: Moment, task: TaskState, decision: AttemptStarted) -> Iterator[Event]:
    if not moment.before.begun:
        yield moment.tell(EventType.BATCH_STARTED, again=False)
    title = task.task.title
    if decision.attempt.step is Step.VERIFY:
        yield moment.tell(EventType.TASK_VERIFYING, task, title=title, command=decision.command)
    else:
        yield moment.tell(EventType.TASK_STARTED, task, title=title, agent=decision.agent)


def signed(moment: Moment, report: AttemptSign) -> Iterator[Event]:
    before, task = moment.before, moment.task
    if task is None or before.attempt is None:
        return
    moment.note(task)
    match report:
        case AttemptPhase():
            if report.name != before.phase:
                yield moment.tell(EventType.TASK_PHASE, task, phase=report.name)
        case AttemptAsked():
            if report.question != before.question:
                yield moment.tell(EventType.TASK_NEEDS_INPUT, task, question=report.question)
        case AttemptLaunched() | AttemptActive() | AttemptUsed() | AttemptSession():
            return
        case _:
            assert_never(report)


def over(moment: Moment, report: AttemptOver) -> Iterator[Event]:
    if moment.task is not None:
        moment.note(moment.task)
    match report:
        case AttemptExited() | AttemptLost():
            yield from ()
        case _:
            assert_never(report)
