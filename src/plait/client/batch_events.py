"""Stream events of batches: answers to requests, batch and branch decisions, gates, publishing, limits and the engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plait.client.json_encoding import to_iso
from plait.client.record_context import RecordContext, find_machine_shortage
from plait.client.stream_event import EventFields, EventType, GateProgress, StreamEvent
from plait.core.decisions import (
    BatchDecision,
    BatchEnded,
    BatchHalted,
    BatchPaused,
    BatchUnpaused,
    BranchDecision,
    BreakerClosed,
    BreakerOpened,
    DeadlinesMoved,
    GateEnding,
    GateStarted,
    LimitDecision,
    LimitRaised,
    MergeStarted,
    PhaseOpened,
    PublishStarted,
    RebuildStarted,
    RequestDecision,
    RequestGranted,
    RequestRefused,
)
from plait.core.reports import (
    BranchReport,
    CapacityChanged,
    ClockJumped,
    EngineReleased,
    EngineTaken,
    GateDone,
    GateLost,
    MachineReport,
    MergeConflicted,
    MergeDone,
    MergeFailed,
    PressureChanged,
    PublishDone,
    PublishFailed,
    RateLimited,
    RebuildDone,
    RebuildFailed,
)
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
from plait.core.status import BatchStatus


def map_request_answer(context: RecordContext, answer: RequestDecision) -> Iterator[StreamEvent]:
    request = context.before.request
    match answer:
        case RequestGranted():
            if request is not None and context.batch is not None:
                yield from _map_granted_request(context, context.batch, request, answer.tasks)
        case RequestRefused():
            # The client that sent the request reports the refusal. Only a refused batch has no other event.
            if isinstance(request, Submit) and context.batch is None:
                more = EventFields(error=answer.why, reason=answer.why)
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
            return  # its effects have events of their own
        case ChangeSettings() | ChangeEngineSettings() | SaveSettings():
            return  # its effects have events of their own
        case _:
            assert_never(request)


def _batch_created_fields(batch: BatchState) -> EventFields:
    return {
        "mode": batch.settings.mode,
        "tasks": sum(task.task.entrant is None for task in batch.tasks),
        "sources": batch.sources,
        "branch": batch.branch or None,
    }


def _make_paused_event(context: RecordContext, batch: BatchState) -> StreamEvent:
    cause, why = (batch.paused.cause, batch.paused.why) if batch.paused else (None, "")
    return context.make_event(EventType.BATCH_PAUSED, cause=cause, reason=why)


def map_batch_decision(context: RecordContext, decision: BatchDecision) -> Iterator[StreamEvent]:
    batch = context.batch
    if batch is None:
        return
    match decision:
        case PhaseOpened():
            phase = batch.phases.get(decision.phase)
            yield from context.make_waiting_events(phase.members if phase is not None else ())
            yield from context.make_queue_head_events()
        case BatchPaused():
            yield context.make_event(EventType.BATCH_PAUSED, cause=decision.cause, reason=decision.why)
        case BatchUnpaused():
            yield context.make_event(EventType.BATCH_UNPAUSED, reason=decision.why)
            yield from context.make_queue_head_events()
        case BatchHalted():
            return  # each skipped task has an event with this reason
        case BatchEnded():
            if context.before.open:
                yield _make_batch_end_event(context, decision)
        case _:
            assert_never(decision)


def _make_batch_end_event(context: RecordContext, decision: BatchEnded) -> StreamEvent:
    match decision.status:
        case BatchStatus.COMPLETED:
            url = find_pull_request_url(context)
            return context.make_event(EventType.BATCH_COMPLETED, prUrl=url, reason=decision.reason)
        case BatchStatus.CANCELLED:
            return context.make_event(EventType.BATCH_CANCELLED, reason=decision.reason)
        case _:
            return context.make_event(EventType.BATCH_FAILED, error=decision.reason, reason=decision.reason)


def map_branch_decision(context: RecordContext, decision: BranchDecision) -> Iterator[StreamEvent]:
    if context.task is not None:
        context.update_status(context.task)
    match decision:
        case MergeStarted():
            if context.task is not None:
                yield context.make_event(EventType.BATCH_MERGING, context.task)
        case RebuildStarted():
            yield context.make_event(EventType.BATCH_MERGING, without=decision.without)
        case GateStarted():
            yield from map_gate_started(context, decision)
        case PublishStarted():
            yield from map_publish_started(context, decision)
        case GateEnding():
            return
        case _:
            assert_never(decision)


def map_branch_report(context: RecordContext, report: BranchReport) -> Iterator[StreamEvent]:
    if context.task is not None:
        context.update_status(context.task)
    match report:
        case MergeDone():
            if context.task is not None and context.before.merging == report.n:
                yield context.make_event(EventType.TASK_MERGED, context.task, commit=report.commit)
        case RebuildDone():
            # What follows for tasks whose change no longer applies is a decision with its own event.
            for clash in report.clashes:
                yield from _map_conflicted_task(context, clash.task)
        case PublishDone() | PublishFailed():
            yield from map_publish_ended(context, report)
        case GateDone() | GateLost():
            yield from map_gate_ended(context, report)
        case MergeConflicted() | MergeFailed() | RebuildFailed():
            return
        case _:
            assert_never(report)


def _map_conflicted_task(context: RecordContext, name: str) -> Iterator[StreamEvent]:
    task = context.batch.find_task(name) if context.batch is not None else None
    if task is not None:
        yield from context.make_waiting_events([task.place])


def map_gate_started(context: RecordContext, decision: GateStarted) -> Iterator[StreamEvent]:
    yield context.make_event(
        EventType.BATCH_GATING, gate=decision.n, commit=decision.commit, merges=decision.size, command=decision.command
    )


def map_gate_ended(context: RecordContext, report: GateDone | GateLost) -> Iterator[StreamEvent]:
    gate = context.before.gate
    if gate is None or gate.n != report.n:
        return
    gating: GateProgress = {"gate": gate.n, "commit": gate.commit, "merges": gate.size}
    match report:
        case GateDone(passed=True):
            gating["result"] = "passed"
        case GateDone():
            gating |= {"result": "failed", "error": report.detail, "suspects": _list_suspects(context)}
        case GateLost():
            gating |= {"result": "lost", "error": report.why}
        case _:
            assert_never(report)
    yield from context.make_progress_events(gating=gating)


def _list_suspects(context: RecordContext) -> tuple[str, ...]:
    """The tasks among which the failing one is."""
    batch = context.batch
    if batch is None or batch.gate_bad_size is None:
        return ()
    return tuple(batch.tasks[entry.place].task.id for entry in batch.merges[batch.gate_good_size : batch.gate_bad_size])


def map_publish_started(context: RecordContext, decision: PublishStarted) -> Iterator[StreamEvent]:
    url = find_pull_request_url(context)
    yield from context.make_progress_events(
        prUrl=url, publishing="started", publish=decision.publish, commit=decision.commit
    )


def map_publish_ended(context: RecordContext, report: PublishDone | PublishFailed) -> Iterator[StreamEvent]:
    if context.before.publishing != report.n:
        return
    url = find_pull_request_url(context)
    match report:
        case PublishDone():
            yield from context.make_progress_events(prUrl=url, publishing="done", commit=report.commit)
        case PublishFailed():
            yield from context.make_progress_events(prUrl=url, publishing="failed", error=report.why, hint=report.hint)
        case _:
            assert_never(report)


def find_pull_request_url(context: RecordContext) -> str | None:
    """The batch's pull request."""
    published = context.batch.published if context.batch is not None else None
    return published.url or None if published is not None else None


MACHINE_PROVIDER = "machine"  # shown like a provider that refuses work without a reset time


def map_limit_decision(context: RecordContext, decision: LimitDecision) -> Iterator[StreamEvent]:
    match decision:
        case BreakerOpened():
            until = to_iso(decision.until)
            yield context.make_event(
                EventType.LIMIT_OPENED, provider=decision.provider, until=until, reason=decision.why
            )
        case BreakerClosed():
            yield context.make_event(EventType.LIMIT_CLOSED, provider=decision.provider)
        case LimitRaised() | DeadlinesMoved():
            return
        case _:
            assert_never(decision)


def map_machine_report(context: RecordContext, report: MachineReport) -> Iterator[StreamEvent]:
    match report:
        case EngineTaken():
            yield context.make_event(EventType.ENGINE_TAKEN, pid=report.pid, host=report.host, version=report.version)
        case EngineReleased():
            yield context.make_event(EventType.ENGINE_RELEASED, pid=report.pid)
        case PressureChanged() | CapacityChanged():
            pass
        case RateLimited() | ClockJumped():
            pass  # the decision that follows has its own event
        case _:
            assert_never(report)
    yield from _map_machine_shortage(context)


def _map_machine_shortage(context: RecordContext) -> Iterator[StreamEvent]:
    """Also with a new engine, which starts without sensor readings."""
    was, now = context.before.short_of, find_machine_shortage(context.state)
    if was != now and now is not None:
        yield context.make_event(EventType.LIMIT_OPENED, provider=MACHINE_PROVIDER, until=None, reason=now)
    elif was != now:
        yield context.make_event(EventType.LIMIT_CLOSED, provider=MACHINE_PROVIDER)
