"""Requests, when they are answered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plait.core.decisions import AboutRequest, RequestGranted, RequestRefused
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
from plait.core.state import BatchState
from plait.front.event import Event, EventType
from plait.front.moment import Moment


def answered(moment: Moment, answer: AboutRequest) -> Iterator[Event]:
    request = moment.before.request
    match answer:
        case RequestGranted():
            if request is not None and moment.batch is not None:
                yield from _granted(moment, moment.batch, request, answer.tasks)
        case RequestRefused():
            # Whoever asked is told by the front they asked. Only a batch that will never be has nobody else to say so.
            if isinstance(request, Submit) and moment.batch is None:
                more = {"error": answer.why, "reason": answer.why}
                record = moment.record
                yield Event(record.seq, record.at, EventType.BATCH_FAILED, request.batch, more=more)
        case _:
            assert_never(answer)


def _granted(moment: Moment, batch: BatchState, request: Request, names: tuple[str, ...]) -> Iterator[Event]:
    if not moment.before.open and not isinstance(request, Submit) and batch.ended is None:
        yield moment.tell(EventType.BATCH_STARTED, again=True)
    match request:
        case Submit():
            yield moment.tell(EventType.BATCH_CREATED, **_outline(batch))
            yield from moment.stand(range(len(batch.tasks)))
        case Pause() | Stop():
            yield _paused(moment, batch)
        case Unpause() | Resume():
            yield moment.tell(EventType.BATCH_UNPAUSED, reason="by request")
            yield from moment.stand(moment.before.interrupted)
            yield from moment.next_in_queue()
        case Approve() | Retry() | Feedback():
            yield from moment.stand(batch.index[name] for name in names if name in batch.index)
        case CancelBatch() | CancelTask() | Drop() | Ship():
            return  # what comes of it is told when it comes
        case ChangeSettings() | ChangeEngineSettings() | SaveSettings():
            return  # what comes of it is told when it comes
        case _:
            assert_never(request)


def _outline(batch: BatchState) -> dict[str, object]:
    return {
        "mode": batch.settings.mode.value,
        "tasks": sum(task.task.entrant is None for task in batch.tasks),
        "sources": batch.sources,
        "branch": batch.branch or None,
    }


def _paused(moment: Moment, batch: BatchState) -> Event:
    cause, why = (batch.paused.cause.value, batch.paused.why) if batch.paused else (None, "")
    return moment.tell(EventType.BATCH_PAUSED, cause=cause, reason=why)
