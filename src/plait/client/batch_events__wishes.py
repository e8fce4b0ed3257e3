"""Requests, when they are answered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plait.client.record_context import RecordContext
from plait.client.stream_event import EventType, StreamEvent
from plait.core.decisions import RequestDecision, RequestGranted, RequestRefused
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


def map_request_answer(context: RecordContext, answer: RequestDecision) -> Iterator[StreamEvent]:
    request = context.before.request
    match answer:
        case RequestGranted():
            if request is not None and context.batch is not None:
                yield from _map_granted_request(context, context.batch, request, answer.tasks)
        case RequestRefused():
            # Whoever asked is told by the front they asked. Only a batch that will never be has nobody else to say so.
            if isinstance(request, Submit) and context.batch is None:
                more = {"error": answer.why, "reason": answer.why}
                record = context.record
                yield StreamEvent(record.seq, record.at, EventType.BATCH_FAILED, request.batch, data=more)
        case _:
            assert_never(answer)


def _map_granted_request(
    context: RecordContext, batch: BatchState, request: Request, names: tuple[str, ...]
) -> Iterator[StreamEvent]:
    if not context.before.open and not isinstance(request, Submit) and batch.ended is None:
        yield context.make_event(EventType.BATCH_STARTED, again=True)
    match request:
        case Submit():
            yield context.make_event(EventType.BATCH_CREATED, **_batch_created_fields(batch))
            yield from context.make_waiting_events(range(len(batch.tasks)))
        case Pause() | Stop():
            yield _make_paused_event(context, batch)
        case Unpause() | Resume():
            yield context.make_event(EventType.BATCH_UNPAUSED, reason="by request")
            yield from context.make_waiting_events(context.before.interrupted)
            yield from context.make_queue_head_events()
        case Approve() | Retry() | Feedback():
            yield from context.make_waiting_events(batch.index[name] for name in names if name in batch.index)
        case CancelBatch() | CancelTask() | Drop() | Ship():
            return  # what comes of it is told when it comes
        case ChangeSettings() | ChangeEngineSettings() | SaveSettings():
            return  # what comes of it is told when it comes
        case _:
            assert_never(request)


def _batch_created_fields(batch: BatchState) -> dict[str, object]:
    return {
        "mode": batch.settings.mode.value,
        "tasks": sum(task.task.entrant is None for task in batch.tasks),
        "sources": batch.sources,
        "branch": batch.branch or None,
    }


def _make_paused_event(context: RecordContext, batch: BatchState) -> StreamEvent:
    cause, why = (batch.paused.cause.value, batch.paused.why) if batch.paused else (None, "")
    return context.make_event(EventType.BATCH_PAUSED, cause=cause, reason=why)
