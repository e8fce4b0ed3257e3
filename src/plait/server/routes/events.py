"""Live events, and figures for those who measure."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Header, Query, Request, Response

from plait.core.errors import PlaitError
from plait.front.refusals import FieldError
from plait.server.acts.naming import the_batch
from plait.server.events import TYPE, Listening, Stream
from plait.server.mark import Mark
from plait.server.metrics import Metrics
from plait.server.office import Office
from plait.server.offices import Offices
from plait.server.routes.common import InOffice, offices_of
from plait.server.shapes.errors import Responses, answers
from plait.server.shapes.events import EVENT

router = APIRouter(tags=["events"])

_STREAM: Responses = {
    200: {
        "description": "Server-sent events, without end: `id`, `event` and `data`, which is this object in JSON",
        "content": {TYPE: {"schema": {"$ref": EVENT}}},
    }
}
_METRICS: Responses = {
    200: {
        "description": "The exposition format of Prometheus",
        "content": {
            "text/plain": {"schema": {"type": "string"}},
            "application/openmetrics-text": {"schema": {"type": "string"}},
        },
    }
}

Spelt = Annotated[
    str | None,
    Query(max_length=200, description="As Last-Event-ID, for those who can't send it; 0: from the beginning"),
]


@router.get(
    "/api/events",
    operation_id="listen",
    response_class=Response,
    responses=answers(None, 409, also=_STREAM),
)
async def events(
    office: InOffice,
    last: Annotated[str | None, Header(alias="Last-Event-ID", max_length=200)] = None,
    since: Spelt = None,
    batch: Annotated[
        str | None, Query(min_length=1, max_length=200, description="And nothing of other batches")
    ] = None,
    logs: Annotated[bool, Query(description="false: without what agents say")] = True,  # noqa: FBT002 - a word of the query
) -> Response:
    """What happens, as it happens; after the event that was heard last, without a gap or a repeat.

    Without a mark: from now on; of one batch, from its beginning.
    """
    heard = _heard(last, "Last-Event-ID") or _heard(since, "since")
    of = await office.look(lambda desk: None if batch is None else the_batch(desk.ahead(), batch).id)
    if heard is None and of is not None:
        heard = Mark("", 0)
    return Listening(Stream(office, heard, batch=of, logs=logs))


@router.get(
    "/metrics", operation_id="metrics", response_class=Response, responses=answers(None, also=_METRICS)
)
async def metrics(request: Request, accept: Annotated[str, Header(max_length=1000)] = "") -> Response:
    """Of every project; of one that can't be read, that it can't."""
    meters: Metrics = request.app.state.metrics
    opened, down = await _offices(offices_of(request))
    body, content_type = await meters.scrape(opened, accept, down=down)
    return Response(body, media_type=content_type)


async def _offices(offices: Offices) -> tuple[list[Office], list[str]]:
    """Those that are open, and the projects of those that can't be opened."""
    found, down = list[Office](), list[str]()
    for project in await asyncio.to_thread(offices.projects):
        try:
            found.append(await offices.office(project.id))
        except PlaitError:
            down.append(project.id)
    return found, down


def _heard(said: str | None, field: str) -> Mark | None:
    if not said:
        return None
    mark = Mark.of(said)
    if mark is None:
        raise FieldError(
            f"{field} is no id of an event of this server",
            field=field,
            hint="Give back the last `id` that was heard, or 0.",
        )
    return mark
