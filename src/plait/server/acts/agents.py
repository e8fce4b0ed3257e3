"""The agents: which are here, and which are logged in."""

from __future__ import annotations

import asyncio

from plait.front.agents_shape import agent_json
from plait.server.office import ProjectSession
from plait.wiring import RepoLocation
from plait.wiring.agency import list_agents
from plait.wiring.sources import load_settings

Json = dict[str, object]


async def describe_agents(session: ProjectSession) -> Json:
    """`{"agents"}`, as `agents --json` has them. Tools are asked for their versions, which takes a moment."""
    return {"agents": await asyncio.to_thread(_read_agents, session.place)}


def _read_agents(place: RepoLocation) -> list[Json]:
    return [agent_json(each) for each in list_agents(load_settings(place.top))]
