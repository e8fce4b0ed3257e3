"""What is being published, and what the remote has."""

from __future__ import annotations

from plait.core.decisions import PublishStarted
from plait.core.reports import PublishDone, PublishFailed
from plait.core.settings import Publish
from plait.testing.laws.facts__book import Facts


def fold_publish_started(book: Facts, event: PublishStarted) -> None:
    batch = book.batch(event.batch)
    batch.publishing, batch.publishes = event, event.n
    batch.requested_publish, batch.publish_failed = None, False


def fold_publish_over(book: Facts, report: PublishDone | PublishFailed) -> None:
    batch = book.batches.get(report.batch)
    order = batch.publishing if batch is not None else None
    if batch is None or order is None or order.n != report.n:
        return
    batch.publishing = None
    batch.pushed = report.commit or batch.pushed
    if isinstance(report, PublishDone):
        batch.published = (report.commit, order.publish)
        if order.publish is not Publish.PUSH:
            batch.title_changed = False
    else:
        batch.publish_failed = True
