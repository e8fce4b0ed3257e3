"""What is decided about a batch, and what happens to its branch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plait.core.decisions import (
    AboutBatch,
    AboutLine,
    BatchEnded,
    BatchHalted,
    BatchPaused,
    BatchUnpaused,
    GateEnding,
    GateStarted,
    MergeStarted,
    PhaseOpened,
    PublishStarted,
    RebuildStarted,
)
from plait.core.reports import (
    GateDone,
    GateLost,
    LineReport,
    MergeConflicted,
    MergeDone,
    MergeFailed,
    PublishDone,
    PublishFailed,
    RebuildDone,
    RebuildFailed,
)
from plait.core.status import BatchStatus
from plait.front.event import Event, EventType
from plait.front.moment import Moment
from plait.front.telling import gating, publishing


def decided(moment: Moment, decision: AboutBatch) -> Iterator[Event]:
    batch = moment.batch
    if batch is None:
        return
    match decision:
        case PhaseOpened():
            phase = batch.phases.get(decision.phase)
            yield from moment.stand(phase.members if phase is not None else ())
            yield from moment.next_in_queue()
        case BatchPaused():
            yield moment.tell(EventType.BATCH_PAUSED, cause=decision.cause.value, reason=decision.why)
        case BatchUnpaused():
            yield moment.tell(EventType.BATCH_UNPAUSED, reason=decision.why)
            yield from moment.next_in_queue()
        case BatchHalted():
            return  # each task that it skips is told with this reason
        case BatchEnded():
            if moment.before.open:
                yield _ended(moment, decision)
        case _:
            assert_never(decision)


def _ended(moment: Moment, decision: BatchEnded) -> Event:
    match decision.status:
        case BatchStatus.COMPLETED:
            url = publishing.url(moment)
            return moment.tell(EventType.BATCH_COMPLETED, prUrl=url, reason=decision.reason)
        case BatchStatus.CANCELLED:
            return moment.tell(EventType.BATCH_CANCELLED, reason=decision.reason)
        case _:
            return moment.tell(EventType.BATCH_FAILED, error=decision.reason, reason=decision.reason)


def line_decided(moment: Moment, decision: AboutLine) -> Iterator[Event]:
    if moment.task is not None:
        moment.note(moment.task)
    match decision:
        case MergeStarted():
            if moment.task is not None:
                yield moment.tell(EventType.BATCH_MERGING, moment.task)
        case RebuildStarted():
            yield moment.tell(EventType.BATCH_MERGING, without=decision.without)
        case GateStarted():
            yield from gating.started(moment, decision)
        case PublishStarted():
            yield from publishing.started(moment, decision)
        case GateEnding():
            return
        case _:
            assert_never(decision)


def line_reported(moment: Moment, report: LineReport) -> Iterator[Event]:
    if moment.task is not None:
        moment.note(moment.task)
    match report:
        case MergeDone():
            if moment.task is not None and moment.before.merging == report.n:
                yield moment.tell(EventType.TASK_MERGED, moment.task, commit=report.commit)
        case RebuildDone():
            # Whose change no longer applies is judged next, and told then.
            for clash in report.clashes:
                yield from _clashed(moment, clash.task)
        case PublishDone() | PublishFailed():
            yield from publishing.over(moment, report)
        case GateDone() | GateLost():
            yield from gating.over(moment, report)
        case MergeConflicted() | MergeFailed() | RebuildFailed():
            return
        case _:
            assert_never(report)


def _clashed(moment: Moment, name: str) -> Iterator[Event]:
    task = moment.batch.task(name) if moment.batch is not None else None
    if task is not None:
        yield from moment.stand([task.place])
