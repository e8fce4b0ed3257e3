"""Describe a batch's timeline for programs."""

from __future__ import annotations

from plait.client.api_models import (
    RetryShape,
    SpanKind,
    SpanShape,
    TaskTimeline,
    TimelineShape,
    Wait,
    to_json,
)
from plait.client.history import BatchHistory, TaskHistory, TimelineSpan
from plait.client.json_encoding import Json, to_iso, to_iso_or_none


def timeline_json(history: BatchHistory) -> Json:
    timeline = TimelineShape(
        batch_id=history.batch,
        started_at=to_iso_or_none(history.start),
        completed_at=to_iso_or_none(history.end),
        tasks=[_describe_task(task) for task in history.tasks.values()],
        spans=[_describe_span(span) for span in history.spans],
    )
    return to_json(timeline)


def _describe_task(task: TaskHistory) -> TaskTimeline:
    return TaskTimeline(
        task_id=task.task,
        title=task.title,
        status=task.status,
        spans=[_describe_span(span) for span in sorted(task.spans, key=lambda span: span.start)],
        waits=[Wait(to_iso(start), to_iso_or_none(end)) for start, end in task.list_waits()],
        retries=[
            RetryShape(to_iso(retry.at), to_iso(retry.retry_at), retry.why, retry.category, retry.counted)
            for retry in task.retries
        ],
    )


def _describe_span(span: TimelineSpan) -> SpanShape:
    return SpanShape(
        kind=SpanKind(span.kind),
        started_at=to_iso(span.start),
        completed_at=to_iso_or_none(span.end),
        n=span.n,
        agent=span.agent,
        result=span.result,
        detail=span.detail or None,
        ended_for=span.why,
    )
