"""A batch as a graph, and as a timeline."""

from __future__ import annotations

from plait.client.batch_json__graph_shape import graph_json
from plait.client.session import Session
from plait.client.timeline__timeline_shape import timeline_json
from plait.core.state import State
from plait.server.project_session import ProjectSession
from plait.server.service.lookup import resolve_batch

Json = dict[str, object]


async def read_graph(session: ProjectSession, batch: str | None) -> Json:
    """Its tasks with their statuses, the edges between them with kind and reason, waves, the longest path."""

    def read(state: State) -> Json:
        return graph_json(state, resolve_batch(state, batch))

    return await session.query(lambda desk: read(desk.preview_state()))


async def read_timeline(session: ProjectSession, batch: str | None) -> Json:
    """Attempts, waits, retries and merges with their times."""

    def read(desk: Session) -> Json:
        return timeline_json(
            session.history.get_batch(resolve_batch(desk.preview_state(), batch).id).timeline
        )

    return await session.query(read)
