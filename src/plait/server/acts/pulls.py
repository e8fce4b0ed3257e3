"""A batch's pull request: what it would say if it were opened or brought up to date now."""

from __future__ import annotations

import asyncio

from plait.core.agenda.publish import why_not_publish
from plait.core.state import State
from plait.core.views import BatchView, batch_view
from plait.core.wording import Wording
from plait.front.announcing import Prospect, prospect
from plait.server.acts.naming import the_batch
from plait.server.office import Office

Json = dict[str, object]


async def pull_request(office: Office, batch: str | None) -> Json:
    """Git is asked off the desk's thread, and nobody over a network."""

    def read(state: State) -> tuple[BatchView, Wording, str | None, bool]:
        found = the_batch(state, batch)
        under_way = found.wish is not None or found.publishing is not None
        return batch_view(state, found), found.wording, why_not_publish(found), under_way

    view, wording, why_not, under_way = await office.look(lambda desk: read(desk.ahead()))
    found = await asyncio.to_thread(prospect, office.place, view, wording, why_not)
    return _json(view, found, under_way=under_way)


def _json(view: BatchView, found: Prospect, *, under_way: bool) -> Json:
    return {
        "batchId": view.id,
        "title": found.said.title,
        "body": found.said.body,
        "own": {"title": found.own.title, "body": found.own.body},
        "branch": view.branch or None,
        "target": found.target or None,
        "url": view.pr_url or None,
        "shipped": bool(view.shipped) and not view.differs,
        "underWay": under_way,
        "canPublish": not found.no_pull,
        "canPush": not found.no_push,
        "why": found.no_pull or None,
        "hint": found.hint or None,
    }
