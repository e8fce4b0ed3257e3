"""What is decided about a batch, and what happens to its branch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plait.client import batch_events__gating, batch_events__publishing
from plait.client.record_context import RecordContext
from plait.client.stream_event import EventType, StreamEvent
from plait.core.decisions import (
    BatchDecision,
    BatchEnded,
    BatchHalted,
    BatchPaused,
    BatchUnpaused,
    BranchDecision,
    GateEnding,
    GateStarted,
    MergeStarted,
    PhaseOpened,
    PublishStarted,
    RebuildStarted,
)
from plait.core.reports import (
    BranchReport,
    GateDone,
    GateLost,
    MergeConflicted,
    MergeDone,
    MergeFailed,
    PublishDone,
    PublishFailed,
    RebuildDone,
    RebuildFailed,
)
from plait.core.status import BatchStatus


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
            yield context.make_event(EventType.BATCH_PAUSED, cause=decision.cause.value, reason=decision.why)
        case BatchUnpaused():
            yield context.make_event(EventType.BATCH_UNPAUSED, reason=decision.why)
            yield from context.make_queue_head_events()
        case BatchHalted():
            return  # each task that it skips is told with this reason
        case BatchEnded():
            if context.before.open:
                yield _make_batch_end_event(context, decision)
        case _:
            assert_never(decision)


def _make_batch_end_event(context: RecordContext, decision: BatchEnded) -> StreamEvent:
    match decision.status:
        case BatchStatus.COMPLETED:
            url = batch_events__publishing.find_pull_request_url(context)
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
            yield from batch_events__gating.map_gate_started(context, decision)
        case PublishStarted():
            yield from batch_events__publishing.map_publish_started(context, decision)
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
            # Whose change no longer applies is judged next, and told then.
            for clash in report.clashes:
                yield from _map_conflicted_task(context, clash.task)
        case PublishDone() | PublishFailed():
            yield from batch_events__publishing.map_publish_ended(context, report)
        case GateDone() | GateLost():
            yield from batch_events__gating.map_gate_ended(context, report)
        case MergeConflicted() | MergeFailed() | RebuildFailed():
            return
        case _:
            assert_never(report)


def _map_conflicted_task(context: RecordContext, name: str) -> Iterator[StreamEvent]:
    task = context.batch.find_task(name) if context.batch is not None else None
    if task is not None:
        yield from context.make_waiting_events([task.place])
