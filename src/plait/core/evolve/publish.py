"""Publishing: what a person asked for, what is under way, what the remote has."""

from __future__ import annotations

from typing import assert_never

from plait.core.decisions import PublishStarted
from plait.core.reports import PublishDone, PublishFailed
from plait.core.requests import Ship
from plait.core.settings import Publish
from plait.core.state import BatchState, Published, State


def wished(state: State, batch: BatchState, request: Ship) -> None:
    batch.wish = request.publish
    batch.wording = batch.wording.after(request.title, request.body)
    batch.renamed = batch.renamed or request.title is not None
    state.shipping[batch.id] = batch


def started(state: State, batch: BatchState, decision: PublishStarted) -> None:
    batch.wish = batch.unpublished = None
    batch.publishing = decision
    batch.publishes = decision.n
    state.shipping[batch.id] = batch


def over(state: State, at: float, batch: BatchState, report: PublishDone | PublishFailed) -> None:
    order = batch.publishing
    if order is None or order.n != report.n:
        return
    batch.publishing = None
    state.shipping.pop(batch.id, None)
    batch.pushed = report.commit or batch.pushed
    match report:
        case PublishDone():
            url = report.url or (batch.published.url if batch.published else "")
            batch.published = Published(report.commit, url, order.publish, at)
            batch.renamed = batch.renamed and order.publish is Publish.PUSH
        case PublishFailed():
            batch.unpublished = report
        case _:
            assert_never(report)
