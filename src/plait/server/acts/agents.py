"""The agents: which are here, and which are logged in."""

from __future__ import annotations

import asyncio

from plait.front.agents_shape import agent_json
from plait.server.office import Office
from plait.wiring import Place
from plait.wiring.agency import agency
from plait.wiring.sources import settings

Json = dict[str, object]


async def listed(office: Office) -> Json:
    """`{"agents"}`, as `agents --json` has them. Tools are asked for their versions, which takes a moment."""
    return {"agents": await asyncio.to_thread(_listed, office.place)}


def _listed(place: Place) -> list[Json]:
    return [agent_json(each) for each in agency(settings(place.top))]
