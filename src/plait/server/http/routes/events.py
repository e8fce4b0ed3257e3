"""The event stream, and metrics."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import Header, Query, Request, Response

from plait.client.api_errors import FieldError
from plait.core.errors import PlaitError
from plait.server.event_buffer import EventCursor
from plait.server.http.routes.routing import ERRORS_BUT_CONFLICT, Responses, Routes, SessionDep, get_session_pool
from plait.server.http.schema import EVENT_REF
from plait.server.lookup import resolve_batch
from plait.server.metrics import ServerMetrics
from plait.server.project_session import ProjectSession
from plait.server.session_pool import SessionPool
from plait.server.sse import SSE_MEDIA_TYPE, SseResponse, SseStream

routes = Routes("events")
EVENTS_PATH = "/api/events"

_STREAM_RESPONSES: Responses = {
    200: {
        "description": "Endless server-sent events: `id`, `event`, and this object as JSON in `data`",
        "content": {SSE_MEDIA_TYPE: {"schema": {"$ref": EVENT_REF}}},
    }
}
_METRICS_RESPONSES: Responses = {
    200: {
        "description": "The Prometheus exposition format",
        "content": {
            "text/plain": {"schema": {"type": "string"}},
            "application/openmetrics-text": {"schema": {"type": "string"}},
        },
    }
}

SinceCursor = Annotated[
    str | None,
    Query(max_length=200, description="As Last-Event-ID, for clients that can't send it; 0: from the beginning"),
]


@routes.add("GET", EVENTS_PATH, also=_STREAM_RESPONSES, operation_id="listen", response_class=Response)
async def stream_events(
    session: SessionDep,
    last: Annotated[str | None, Header(alias="Last-Event-ID", max_length=200)] = None,
    since: SinceCursor = None,
    batch: Annotated[str | None, Query(min_length=1, max_length=200, description="Only events of this batch")] = None,
    logs: Annotated[bool, Query(description="false: without agent output")] = True,  # noqa: FBT002 - a query parameter
) -> Response:
    """Live events after the last received one, without a gap or a repeat.

    Without Last-Event-ID: from now on; of one batch, from its beginning.
    """
    cursor = _parse_cursor(last, "Last-Event-ID") or _parse_cursor(since, "since")
    batch_id = await session.query(
        lambda client: None if batch is None else resolve_batch(client.preview_state(), batch).id
    )
    if cursor is None and batch_id is not None:
        cursor = EventCursor("", 0)
    return SseResponse(SseStream(session, cursor, batch=batch_id, logs=logs))


@routes.add(
    "GET",
    "/metrics",
    errors=ERRORS_BUT_CONFLICT,
    also=_METRICS_RESPONSES,
    operation_id="metrics",
    response_class=Response,
)
async def get_metrics(request: Request, accept: Annotated[str, Header(max_length=1000)] = "") -> Response:
    """Prometheus metrics of all projects."""
    server_metrics: ServerMetrics = request.app.state.metrics
    opened, down = await _open_sessions(get_session_pool(request))
    body, content_type = await server_metrics.scrape(opened, accept, down=down)
    return Response(body, media_type=content_type)


async def _open_sessions(pool: SessionPool) -> tuple[list[ProjectSession], list[str]]:
    """Return all sessions, and the ids of projects that can't be opened."""
    sessions, down = list[ProjectSession](), list[str]()
    for project in await asyncio.to_thread(pool.list_projects):
        try:
            sessions.append(await pool.get(project.id))
        except PlaitError:
            down.append(project.id)
    return sessions, down


def _parse_cursor(text: str | None, field: str) -> EventCursor | None:
    if not text:
        return None
    cursor = EventCursor.parse(text)
    if cursor is None:
        raise FieldError(
            f"{field} is not an event id of this server",
            field=field,
            hint="Send the last `id` that you received, or 0.",
        )
    return cursor
