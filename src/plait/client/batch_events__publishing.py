"""How publishing goes, told as progress: begun, done, failed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plait.client.record_context import RecordContext
from plait.client.stream_event import EventType, StreamEvent
from plait.core.decisions import PublishStarted
from plait.core.reports import PublishDone, PublishFailed


def map_publish_started(context: RecordContext, decision: PublishStarted) -> Iterator[StreamEvent]:
    yield from _make_progress_event(
        context, publishing="started", publish=decision.publish.value, commit=decision.commit
    )


def map_publish_ended(context: RecordContext, report: PublishDone | PublishFailed) -> Iterator[StreamEvent]:
    if context.before.publishing != report.n:
        return
    match report:
        case PublishDone():
            yield from _make_progress_event(context, publishing="done", commit=report.commit)
        case PublishFailed():
            yield from _make_progress_event(context, publishing="failed", error=report.why, hint=report.hint)
        case _:
            assert_never(report)


def find_pull_request_url(context: RecordContext) -> str | None:
    """The batch's pull request."""
    published = context.batch.published if context.batch is not None else None
    return published.url or None if published is not None else None


def _make_progress_event(context: RecordContext, **more: object) -> Iterator[StreamEvent]:
    if context.tracker is not None:
        counts = context.tracker.progress()
        yield context.make_event(
            EventType.BATCH_PROGRESS, **counts, prUrl=find_pull_request_url(context), **more
        )
