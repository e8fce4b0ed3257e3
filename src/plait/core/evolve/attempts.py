"""Attempts from start to judgement, and what the judgement does to their task."""

from __future__ import annotations

from typing import assert_never

from plait.core.decisions import (
    AboutAttempt,
    AboutTask,
    AnswerAwaited,
    AttemptEnding,
    AttemptStarted,
    BackoffEnded,
    Change,
    RetryGranted,
    StepPassed,
    TaskEnded,
    TaskInterrupted,
)
from plait.core.evolve.experience import learn, note_footprint, note_rejection, note_served
from plait.core.evolve.foresight import forget
from plait.core.evolve.index import place, put_down, take, take_anew
from plait.core.evolve.line import lose_change
from plait.core.evolve.settle import settle, unmerged
from plait.core.evolve.touched import note_change
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
    Outcome,
)
from plait.core.settings import Spend
from plait.core.state import AttemptState, BatchState, State, TaskState
from plait.core.status import Category, TaskStatus
from plait.core.task import Step


def decided(state: State, at: float, decision: AboutAttempt) -> None:
    name = decision.attempt
    batch = state.batches.get(name.batch)
    task = batch.task(name.task) if batch else None
    if batch is None or task is None:
        return
    match decision:
        case AttemptStarted():
            _start(state, at, decision, batch, task)
        case AttemptEnding():
            attempt = task.alive.get(name)
            if attempt is not None:
                state.deadlines.discard((attempt.expires, name))
                attempt.ending = attempt.ending or decision.why
                attempt.ending_now = decision.now
        case StepPassed():
            _judged(task)
            task.step = decision.then
            if name.step is Step.WRITE:
                task.feedback = ""
                task.repairing = None
        case _:
            assert_never(decision)
    place(state, batch, task)


def judged(state: State, at: float, decision: AboutTask) -> None:
    batch = state.batches.get(decision.batch)
    task = batch.task(decision.task) if batch else None
    if batch is None or task is None:
        return
    match decision:
        case RetryGranted():
            _go_again(state, batch, task, decision)
        case BackoffEnded():
            _end_backoff(state, batch, task)
        case AnswerAwaited():
            _judged(task)
            task.question, task.wants = decision.question, decision.wants
        case TaskEnded():
            _end(state, at, batch, task, decision)
        case TaskInterrupted():
            _judged(task)
            task.interrupted = decision.reason
            if task.step is Step.WRITE:  # what is written already keeps its files until it is merged
                put_down(state, batch, task)
        case _:
            assert_never(decision)
    place(state, batch, task)


def signed(state: State, at: float, report: AttemptSign) -> None:
    """A sign of life; none of them can be of an attempt that is over."""
    attempt = state.find(report.attempt)
    if attempt is None:
        return
    match report:
        case AttemptLaunched():
            attempt.pid, attempt.workspace = report.pid, report.workspace
        case AttemptUsed():
            _claim(state, attempt, report.spend)
        case AttemptPhase():
            attempt.phase = report.name
        case AttemptSession():
            attempt.session = report.session
        case AttemptAsked():
            attempt.question = report.question
        case AttemptActive():
            attempt.question = None
        case _:
            assert_never(report)
    _hear(state, at, attempt)


def over(state: State, at: float, report: AttemptOver) -> None:
    if isinstance(report, AttemptLost) and report.attempt.step is Step.MERGE:
        lose_change(state, report.attempt)
    attempt = state.find(report.attempt)
    if attempt is None:
        return
    outcome = (
        report.outcome if isinstance(report, AttemptExited) else Outcome(Category.LOST, detail=report.why)
    )
    batch = state.batches[attempt.name.batch]
    task = batch.tasks[batch.index[attempt.name.task]]
    state.deadlines.discard((attempt.expires, attempt.name))
    _let_go(state, batch, attempt)
    attempt.ended_at, attempt.outcome = at, outcome
    attempt.used = attempt.used.at_least(outcome.spend)
    if outcome.session is not None:  # "": it is gone, and can't be gone on with
        attempt.session = outcome.session or None
    batch.spent += attempt.used
    task.spent += attempt.used
    del task.alive[attempt.name], batch.alive[attempt.name]
    task.unjudged.append(attempt)
    note_footprint(state, attempt, outcome)
    if attempt.name.step is Step.WRITE:
        note_change(state, batch, task, attempt)
        task.winner = outcome.winner
        learn(state, task, attempt, outcome)
        if outcome.category is Category.OK:
            batch.rejections = 0
    place(state, batch, task)


def _start(state: State, at: float, decision: AttemptStarted, batch: BatchState, task: TaskState) -> None:
    name = decision.attempt
    if name in batch.alive or name.n <= task.numbers.get(name.step, 0):
        return
    attempt = AttemptState(decision, at, at + decision.timeout, quiet_since=at, session=decision.session)
    task.alive[name] = batch.alive[name] = task.last = attempt
    task.numbers[name.step] = name.n
    task.started_at = at if task.started_at is None else task.started_at
    batch.started_at = at if batch.started_at is None else batch.started_at
    batch.slots += attempt.decision.slots
    state.slots += attempt.decision.slots
    state.deadlines.add((attempt.expires, name))
    if name.step is Step.WRITE:
        _start_writing(state, batch, task, attempt)


def _start_writing(state: State, batch: BatchState, task: TaskState, attempt: AttemptState) -> None:
    task.last_write = attempt
    task.step = Step.WRITE
    task.base = attempt.decision.base
    task.fresh = False
    batch.claims += attempt.claim
    batch.agents_used[attempt.agent] = batch.agents_used.get(attempt.agent, 0) + 1
    state.agents[attempt.agent] = state.agents.get(attempt.agent, 0) + 1
    state.providers[attempt.provider] = state.providers.get(attempt.provider, 0) + 1
    take(state, batch, task)


def _let_go(state: State, batch: BatchState, attempt: AttemptState) -> None:
    batch.slots -= attempt.decision.slots
    state.slots -= attempt.decision.slots
    if attempt.name.step is Step.WRITE:
        batch.claims -= attempt.claim
        state.agents[attempt.agent] -= 1
        state.providers[attempt.provider] -= 1


def _claim(state: State, attempt: AttemptState, spend: Spend) -> None:
    before = attempt.claim
    attempt.used = attempt.used.at_least(spend)
    if attempt.name.step is Step.WRITE:
        state.batches[attempt.name.batch].claims += attempt.claim - before
        if attempt.used:
            note_served(state, attempt)


def _hear(state: State, at: float, attempt: AttemptState) -> None:
    if attempt.ending is None:
        state.deadlines.discard((attempt.expires, attempt.name))
        attempt.quiet_since = at - state.jump  # a jump that is not worked in yet will move it
        state.deadlines.add((attempt.expires, attempt.name))


def _judged(task: TaskState) -> None:
    """The first exit, the conflict or the failed merge has been judged."""
    del task.unjudged[:1]
    task.clash = task.merge_error = None
    task.redo = False


def _go_again(state: State, batch: BatchState, task: TaskState, decision: RetryGranted) -> None:
    if task.status is not None:
        return
    _count_against(task, decision)
    if decision.elsewhere and task.unjudged:
        note_rejection(state, task.unjudged[0])
    _judged(task)
    task.step = decision.then
    task.retry = decision.why
    if decision.category is Category.VERIFY and task.winner:
        task.outdone += (task.winner,)
    if decision.feedback not in task.feedback:
        task.feedback = f"{decision.feedback}\n\n{task.feedback}" if task.feedback else decision.feedback
    if decision.category is Category.CONFLICT:
        if task.base is not None and task.tip is not None:
            task.repairing = Change(task.task.id, task.base, task.tip)
        task.base = task.tip = None  # it starts over from the branch it clashed with
        forget(batch, task)
        take_anew(state, batch, task)
    _end_backoff(state, batch, task)
    task.not_before = decision.at
    state.backoffs.add((decision.at, batch.id, task.place))


def _count_against(task: TaskState, decision: RetryGranted) -> None:
    if decision.counted:
        task.tries += 1
    elif decision.category is Category.LOST:
        task.losses += 1
    elif decision.category is Category.CONFLICT:
        task.repairs += 1
    elif decision.category is Category.MERGE:
        task.merge_failures += 1


def _end_backoff(state: State, batch: BatchState, task: TaskState) -> None:
    if task.not_before is not None:
        state.backoffs.discard((task.not_before, batch.id, task.place))
        task.not_before = None


def _end(state: State, at: float, batch: BatchState, task: TaskState, decision: TaskEnded) -> None:
    if not decision.status.terminal:
        return
    task.reason, task.category, task.by = decision.reason, decision.category, decision.by
    task.ended_at = at
    task.unmerged = unmerged(task) if decision.category is Category.MERGE else None
    if decision.category in {Category.AUTH, Category.QUOTA}:
        batch.rejections += 1
    if decision.status is TaskStatus.DONE:
        state.touched.pop(task.task.key, None)
    settle(state, batch, task, decision.status)
