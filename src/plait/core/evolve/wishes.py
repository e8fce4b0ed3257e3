"""Requests: a fact when they arrive, an effect when they are granted."""

from __future__ import annotations

from typing import assert_never

from plait.core import saved
from plait.core.decisions import AboutRequest, RequestGranted
from plait.core.evolve.index import place, relane
from plait.core.evolve.limits import mend
from plait.core.evolve.open import choice, open_batch
from plait.core.evolve.phases import review
from plait.core.evolve.publish import wished
from plait.core.evolve.settle import merge_again, reopen, reopen_batch, write_instead
from plait.core.requests import (
    Approve,
    BatchRequest,
    CancelBatch,
    CancelTask,
    ChangeEngineSettings,
    ChangeSettings,
    Drop,
    Feedback,
    Pause,
    Request,
    Resume,
    Retry,
    SaveSettings,
    Ship,
    Stop,
    Submit,
    TaskRequest,
    Unpause,
)
from plait.core.state import BatchState, Doom, Paused, State, TaskState
from plait.core.status import EndWhy, PauseCause, TaskStatus

# Settings that may answer the question whether a task may spend more.
_PURSE = frozenset({"task_budget", "reserve", "agents", "fallback"})
# Who asks for one of these is there, and wants something done.
_Work = Submit | Resume | Unpause | Retry | Feedback


def arrive(state: State, _at: float, request: Request) -> None:
    if request.id not in state.seen:
        state.seen.add(request.id)
        state.unanswered[request.id] = request


def answer(state: State, at: float, decision: AboutRequest) -> None:
    request = state.unanswered.pop(decision.request, None)
    if request is None or not isinstance(decision, RequestGranted):
        return
    if isinstance(request, _Work):
        mend(state)
    if isinstance(request, Submit):
        if request.batch not in state.batches:
            open_batch(state, at, request)
        return
    if isinstance(request, ChangeEngineSettings):
        state.settings = state.settings.patched(request.settings, request.fields)
        return
    if isinstance(request, SaveSettings):
        state.saved = saved.after(state.saved, request.changes)
        return
    batch = state.batches.get(request.batch)
    if batch is None:
        return
    tasks = [task for name in decision.tasks if (task := batch.task(name)) is not None]
    if isinstance(request, CancelTask | Retry | Drop | Feedback):
        _grant_for_task(state, batch, request, tasks)
    else:
        _grant_for_batch(state, batch, request, tasks)


def _grant_for_batch(state: State, batch: BatchState, request: BatchRequest, tasks: list[TaskState]) -> None:
    match request:
        case CancelBatch():
            _cancel(state, batch)
        case Pause():
            batch.paused = Paused(PauseCause.PERSON, "paused by request")
        case Unpause() | Resume():
            _go_on(state, batch)
        case Approve():
            for task in tasks:
                task.approved = True
        case Stop():
            batch.paused = Paused(PauseCause.STOP, "stopped by request")
            batch.stopping = True
            batch.stop_now = request.now
        case Ship():
            wished(state, batch, request)
        case ChangeSettings():
            _change(state, batch, request)
        case _:
            assert_never(request)


def _grant_for_task(state: State, batch: BatchState, request: TaskRequest, tasks: list[TaskState]) -> None:
    """`tasks` begins with the one the request names; a retry takes up the others with it, and its entrants end with it."""
    if not tasks:
        return
    task = tasks[0]
    match request:
        case CancelTask():
            task.doom = Doom(TaskStatus.CANCELLED, EndWhy.CANCEL, "cancelled by request")
            _end_with(state, batch, task, tasks[1:], "cancelled")
        case Drop():
            task.doom = Doom(TaskStatus.SKIPPED, EndWhy.DROP, "dropped by request")
            _end_with(state, batch, task, tasks[1:], "dropped")
            reopen_batch(state, batch)
        case Retry():
            unmerged = task.unmerged if request.agent is None else None
            _take_up(state, batch, tasks)
            if unmerged is not None and not task.pending:
                merge_again(state, batch, task, unmerged)
            task.chosen = request.agent or task.chosen
            relane(state, batch, task, choice(batch, task.task, task.chosen))
        case Feedback():
            _listen(state, batch, request.text, tasks)
        case _:
            assert_never(request)
    place(state, batch, task)


def _cancel(state: State, batch: BatchState) -> None:
    batch.cancelled = True
    batch.stopping = False
    batch.paused = None
    for task in batch.tasks:
        if task.status is None:
            task.doom = Doom(TaskStatus.CANCELLED, EndWhy.CANCEL, "cancelled with its batch")
            place(state, batch, task)


def _go_on(state: State, batch: BatchState) -> None:
    batch.paused = None
    batch.stopping = batch.stop_now = False
    batch.gate_losses = batch.rebuild_failures = batch.rejections = 0
    if batch.base_bad is not None:
        batch.base_bad = batch.bad = None
    for task in batch.tasks:
        if task.interrupted is not None:
            task.interrupted = None
            place(state, batch, task)


def _end_with(state: State, batch: BatchState, task: TaskState, entrants: list[TaskState], verb: str) -> None:
    """Nobody will ask for what they write any more."""
    assert task.doom is not None
    for entrant in entrants:
        reason = f"{verb} with {task.task.id}"
        entrant.doom = entrant.doom or Doom(task.doom.status, task.doom.why, reason, task.task.id)
        place(state, batch, entrant)


def _take_up(state: State, batch: BatchState, tasks: list[TaskState]) -> None:
    tasks[0].approved = True
    for task in tasks:
        reopen(state, batch, task)


def _listen(state: State, batch: BatchState, text: str, tasks: list[TaskState]) -> None:
    task = tasks[0]
    if task.status is not None:
        _take_up(state, batch, tasks)
    task.feedback = f"{task.feedback}\n\n{text}" if task.feedback else text
    if task.wants is not None:  # that much is paid for, and its budget begins anew
        task.agreed = task.spent + task.wants
    task.question = task.wants = None
    if task.alive:
        task.redo = True
    else:
        write_instead(task)


def _change(state: State, batch: BatchState, request: ChangeSettings) -> None:
    batch.settings = batch.settings.patched(request.settings, request.fields)
    for phase in batch.phases.values():
        review(state, batch, phase)
    for task in batch.tasks:
        if task.wants is not None and _PURSE.intersection(request.fields):
            task.question = task.wants = None
        relane(state, batch, task, choice(batch, task.task, task.chosen))
        place(state, batch, task)
