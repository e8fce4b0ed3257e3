"""The timeline of a batch, for a chart."""

from __future__ import annotations

from enum import StrEnum

from plait.client.history import BatchHistory, TaskHistory, TimelineSpan
from plait.client.json_encoding import api_model, fill_model, to_iso, to_iso_or_none
from plait.core.status import Category, EndWhy, TaskStatus


class SpanKind(StrEnum):
    WRITE = "write"
    VERIFY = "verify"
    MERGE = "merge"
    GATE = "gate"
    PAUSE = "pause"
    REBUILD = "rebuild"
    PUBLISH = "publish"


@api_model
class Span:
    """A span of time. `completedAt` null: it hasn't ended. `result` of an attempt is its category."""

    kind: SpanKind
    started_at: str
    completed_at: str | None
    n: int | None
    agent: str | None
    result: str | None
    detail: str | None
    ended_for: EndWhy | None


@api_model
class Wait:
    started_at: str
    completed_at: str | None


@api_model
class ScheduledRetry:
    """A retry. Only a counted one uses up one of the task's retries."""

    at: str
    retry_at: str
    why: str
    category: Category
    counted: bool


@api_model
class TaskTimeline:
    """The timeline of a task. `status` null: it hasn't ended. `waits`: when nothing of it was running."""

    task_id: str
    title: str
    status: TaskStatus | None
    spans: list[Span]
    waits: list[Wait]
    retries: list[ScheduledRetry]


@api_model
class Timeline:
    """The timeline of a batch. `spans` are its own: gates, pauses, rebuilds, publishing."""

    batch_id: str
    started_at: str | None
    completed_at: str | None
    tasks: list[TaskTimeline]
    spans: list[Span]


def describe_timeline(history: BatchHistory) -> Timeline:
    return Timeline(
        batch_id=history.batch,
        started_at=to_iso_or_none(history.start),
        completed_at=to_iso_or_none(history.end),
        tasks=[_describe_task(task) for task in history.tasks.values()],
        spans=[_describe_span(span) for span in history.spans],
    )


def _describe_task(task: TaskHistory) -> TaskTimeline:
    return TaskTimeline(
        task_id=task.task,
        title=task.title,
        status=task.status,
        spans=[_describe_span(span) for span in sorted(task.spans, key=lambda span: span.start)],
        waits=[Wait(to_iso(start), to_iso_or_none(end)) for start, end in task.list_waits()],
        retries=[
            fill_model(ScheduledRetry, retry, at=to_iso(retry.at), retry_at=to_iso(retry.retry_at))
            for retry in task.retries
        ],
    )


def _describe_span(span: TimelineSpan) -> Span:
    return fill_model(
        Span,
        span,
        kind=SpanKind(span.kind),
        started_at=to_iso(span.start),
        completed_at=to_iso_or_none(span.end),
        detail=span.detail or None,
        ended_for=span.why,
    )
