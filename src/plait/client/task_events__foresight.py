"""Conflicts that are foreseen, or not any more, told as progress of the task that was looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plait.client.record_context import RecordContext
from plait.client.stream_event import EventType, StreamEvent
from plait.core.reports import ConflictCleared, ConflictPredicted, ConflictPrediction


def map_conflict_prediction(context: RecordContext, report: ConflictPrediction) -> Iterator[StreamEvent]:
    task, known = context.task, context.before.foreseen
    if task is None or context.tracker is None:
        return
    match report:
        case ConflictPredicted():
            files = task.predicted_conflicts.get(report.other, ())
        case ConflictCleared():
            files = ()
        case _:
            assert_never(report)
    if files != known.get(report.other, ()):
        counts = context.tracker.progress()
        yield context.make_event(
            EventType.BATCH_PROGRESS, task, **counts, conflictsWith=report.other or None, files=files
        )
