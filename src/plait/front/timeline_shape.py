"""A timeline as programs see it: for a chart of who worked when."""

from __future__ import annotations

from plait.front.instant import iso, iso_or_none
from plait.front.timeline import Again, Course, Span, Timeline

Json = dict[str, object]


def timeline_json(found: Timeline) -> Json:
    """`spans` of the batch are gates, pauses, rebuilds and publishing; what is not over has no `completedAt`."""
    return {
        "batchId": found.batch,
        "startedAt": iso_or_none(found.start),
        "completedAt": iso_or_none(found.end),
        "tasks": [_course(course) for course in found.courses.values()],
        "spans": [_span(span) for span in found.spans],
    }


def _course(course: Course) -> Json:
    return {
        "taskId": course.task,
        "title": course.title,
        "status": course.status.value if course.status else None,
        "spans": [_span(span) for span in sorted(course.spans, key=lambda span: span.start)],
        "waits": [
            {"startedAt": iso(start), "completedAt": iso_or_none(end)} for start, end in course.waits()
        ],
        "retries": [_again(again) for again in course.retries],
    }


def _span(span: Span) -> Json:
    return {
        "kind": span.kind,
        "startedAt": iso(span.start),
        "completedAt": iso_or_none(span.end),
        "n": span.n,
        "agent": span.agent,
        "result": span.result,
        "detail": span.detail or None,
        "endedFor": span.why.value if span.why else None,
    }


def _again(again: Again) -> Json:
    return {
        "at": iso(again.at),
        "retryAt": iso(again.retry_at),
        "why": again.why,
        "category": again.category.value,
        "counted": again.counted,
    }
