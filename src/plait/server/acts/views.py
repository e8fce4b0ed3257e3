"""A batch as a graph, and as a timeline."""

from __future__ import annotations

from plait.core.state import State
from plait.front.desk import Desk
from plait.front.graph_shape import graph_json
from plait.front.timeline_shape import timeline_json
from plait.server.acts.naming import the_batch
from plait.server.office import Office

Json = dict[str, object]


async def graph(office: Office, batch: str | None) -> Json:
    """Its tasks with their statuses, the edges between them with kind and reason, waves, the longest path."""

    def read(state: State) -> Json:
        return graph_json(state, the_batch(state, batch))

    return await office.look(lambda desk: read(desk.ahead()))


async def line(office: Office, batch: str | None) -> Json:
    """Attempts, waits, retries and merges with their times."""

    def read(desk: Desk) -> Json:
        return timeline_json(office.chronicle.of(the_batch(desk.ahead(), batch).id).line)

    return await office.look(read)
