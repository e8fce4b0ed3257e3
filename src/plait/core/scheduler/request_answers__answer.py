"""Every request gets one answer: granted, or refused with a reason that names the state it met."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plait.core import settings__saved
from plait.core.decisions import RequestDecision, RequestGranted, RequestRefused
from plait.core.decisions__due import Due, due_now
from plait.core.requests import (
    Approve,
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
    Unpause,
)
from plait.core.scheduler.batches import why_not_ship
from plait.core.scheduler.request_answers import answer_task_request
from plait.core.scheduler.request_answers__answer_submit import why_not_submit
from plait.core.scheduler.selection__budget import why_over_budget
from plait.core.settings import EngineSettings, Mode, Settings
from plait.core.state import BatchState, State
from plait.core.status import PauseCause

# Requests about a batch that need no more than a yes or a no.
_YesNoRequest = CancelBatch | Pause | Unpause | Stop | Resume | Ship | ChangeSettings


def schedule_answers(state: State) -> Iterator[Due]:
    for request in state.unanswered.values():
        yield due_now(_answer_request(state, request))


def _answer_request(state: State, request: Request) -> RequestDecision:
    if isinstance(request, Submit):
        return _grant_unless(request, why_not_submit(state, request))
    if isinstance(request, ChangeEngineSettings):
        why = _why_not_change(state.settings, request.settings, request.fields)
        return _grant_unless(request, why)
    if isinstance(request, SaveSettings):
        return _grant_unless(request, settings__saved.why_not_save(state.saved, request.changes))
    batch = state.batches.get(request.batch)
    if batch is None:
        return RequestRefused(request.id, f"there is no batch {request.batch}")
    if isinstance(request, CancelTask | Retry | Drop | Feedback):
        task = batch.find_task(request.task)
        if task is None:
            return RequestRefused(request.id, f"batch {batch.id} has no task {request.task}")
        return answer_task_request(batch, task, request)
    if batch.ended is not None and not isinstance(request, Ship | ChangeSettings):
        return RequestRefused(request.id, f"batch {batch.id} is {batch.ended.value}")
    if isinstance(request, Approve):
        return _answer_approve(state, batch, request)
    return _grant_unless(request, _why_not_batch(state, batch, request))


def _grant_unless(request: Request, why: str | None) -> RequestDecision:
    return RequestGranted(request.id) if why is None else RequestRefused(request.id, why)


def _why_not_batch(state: State, batch: BatchState, request: _YesNoRequest) -> str | None:
    match request:
        case CancelBatch():
            return f"batch {batch.id} is being cancelled already" if batch.cancelled else None
        case Pause():
            held = batch.paused is not None and batch.paused.cause in {PauseCause.PERSON, PauseCause.STOP}
            return f"batch {batch.id} is paused already" if held else None
        case Unpause():
            stopped = batch.paused is not None and batch.paused.cause is PauseCause.STOP
            return f"batch {batch.id} was stopped: resume it" if stopped else _why_not_resume(state, batch)
        case Resume():
            return _why_not_resume(state, batch)
        case Stop():
            done = batch.stopping and (batch.stop_now or not request.now)
            return f"batch {batch.id} is stopped already" if done else None
        case Ship():
            return why_not_ship(batch, request)
        case ChangeSettings():
            if "isolation" in request.fields and request.settings.isolation is not batch.settings.isolation:
                return "the isolation of a batch can't be changed once it is submitted"
            return _why_not_change(batch.settings, request.settings, request.fields)
        case _:
            assert_never(request)


def _why_not_resume(state: State, batch: BatchState) -> str | None:
    if batch.paused is None:
        return f"batch {batch.id} is not paused"
    return why_over_budget(state, batch) if batch.paused.cause is PauseCause.BUDGET else None


def _why_not_change(
    old: Settings | EngineSettings, new: Settings | EngineSettings, names: tuple[str, ...]
) -> str | None:
    unknown = old.unknown_fields(names)
    if unknown:
        return f"there is no setting {unknown[0]}"
    return old.with_fields(new, names).problem()  # type: ignore[arg-type]  # both are of one kind


def _answer_approve(state: State, batch: BatchState, request: Approve) -> RequestDecision:
    if batch.settings.mode is not Mode.QUEUE or batch.settings.auto_approve:
        return RequestRefused(request.id, f"batch {batch.id} needs no approval")
    if request.task is not None:
        task = batch.find_task(request.task)
        if task is None:
            return RequestRefused(request.id, f"batch {batch.id} has no task {request.task}")
        waits = task.status is None and not task.approved
        why = None if waits else f"{request.task} does not wait for approval"
        return RequestRefused(request.id, why) if why else RequestGranted(request.id, (request.task,))
    head = min(state.start_queue.heads(batch.id), key=lambda entry: entry.key, default=None)
    waiting = batch.tasks[head.ref[1]] if head is not None else None
    if waiting is None or waiting.approved or waiting.started:
        return RequestRefused(request.id, "nothing waits for approval now")
    return RequestGranted(request.id, (waiting.task.id,))
