"""A timeline as programs see it: for a chart of who worked when."""

from __future__ import annotations

from plait.client.json_encoding__instant import to_iso, to_iso_or_none
from plait.client.timeline import BatchTimeline, TaskHistory, TimelineRetry, TimelineSpan

Json = dict[str, object]


def timeline_json(found: BatchTimeline) -> Json:
    """`spans` of the batch are gates, pauses, rebuilds and publishing; what is not over has no `completedAt`."""
    return {
        "batchId": found.batch,
        "startedAt": to_iso_or_none(found.start),
        "completedAt": to_iso_or_none(found.end),
        "tasks": [_task_timeline_json(course) for course in found.tasks.values()],
        "spans": [_span_json(span) for span in found.spans],
    }


def _task_timeline_json(course: TaskHistory) -> Json:
    return {
        "taskId": course.task,
        "title": course.title,
        "status": course.status.value if course.status else None,
        "spans": [_span_json(span) for span in sorted(course.spans, key=lambda span: span.start)],
        "waits": [
            {"startedAt": to_iso(start), "completedAt": to_iso_or_none(end)}
            for start, end in course.list_waits()
        ],
        "retries": [_retry_json(again) for again in course.retries],
    }


def _span_json(span: TimelineSpan) -> Json:
    return {
        "kind": span.kind,
        "startedAt": to_iso(span.start),
        "completedAt": to_iso_or_none(span.end),
        "n": span.n,
        "agent": span.agent,
        "result": span.result,
        "detail": span.detail or None,
        "endedFor": span.why.value if span.why else None,
    }


def _retry_json(again: TimelineRetry) -> Json:
    return {
        "at": to_iso(again.at),
        "retryAt": to_iso(again.retry_at),
        "why": again.why,
        "category": again.category.value,
        "counted": again.counted,
    }
