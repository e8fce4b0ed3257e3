"""How publishing goes, told as progress: begun, done, failed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from plait.core.decisions import PublishStarted
from plait.core.reports import PublishDone, PublishFailed
from plait.front.event import Event, EventType
from plait.front.moment import Moment


def started(moment: Moment, decision: PublishStarted) -> Iterator[Event]:
    yield from _progress(moment, publishing="started", publish=decision.publish.value, commit=decision.commit)


def over(moment: Moment, report: PublishDone | PublishFailed) -> Iterator[Event]:
    if moment.before.publishing != report.n:
        return
    match report:
        case PublishDone():
            yield from _progress(moment, publishing="done", commit=report.commit)
        case PublishFailed():
            yield from _progress(moment, publishing="failed", error=report.why, hint=report.hint)
        case _:
            assert_never(report)


def url(moment: Moment) -> str | None:
    """The batch's pull request."""
    published = moment.batch.published if moment.batch is not None else None
    return published.url or None if published is not None else None


def _progress(moment: Moment, **more: object) -> Iterator[Event]:
    if moment.book is not None:
        counts = moment.book.progress()
        yield moment.tell(EventType.BATCH_PROGRESS, **counts, prUrl=url(moment), **more)
