"""Publishing: what a person asked for, what is under way, what the remote has."""

from __future__ import annotations

from typing import assert_never

from plait.core.decisions import PublishStarted
from plait.core.reports import PublishDone, PublishFailed
from plait.core.requests import Ship
from plait.core.settings import Publish
from plait.core.state import BatchState, PublishedBranch, State


def request_publish(state: State, batch: BatchState, request: Ship) -> None:
    batch.requested_publish = request.publish
    batch.pull_request_override = batch.pull_request_override.with_changes(request.title, request.body)
    batch.renamed = batch.renamed or request.title is not None
    state.publishing_batches[batch.id] = batch


def start_publish(state: State, batch: BatchState, decision: PublishStarted) -> None:
    batch.requested_publish = batch.publish_failure = None
    batch.publishing = decision
    batch.publishes = decision.n
    state.publishing_batches[batch.id] = batch


def end_publish(state: State, at: float, batch: BatchState, report: PublishDone | PublishFailed) -> None:
    order = batch.publishing
    if order is None or order.n != report.n:
        return
    batch.publishing = None
    state.publishing_batches.pop(batch.id, None)
    batch.pushed = report.commit or batch.pushed
    match report:
        case PublishDone():
            url = report.url or (batch.published.url if batch.published else "")
            batch.published = PublishedBranch(report.commit, url, order.publish, at)
            batch.renamed = batch.renamed and order.publish is Publish.PUSH
        case PublishFailed():
            batch.publish_failure = report
        case _:
            assert_never(report)
