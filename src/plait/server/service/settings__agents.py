"""The agents: which are here, and which are logged in."""

from __future__ import annotations

import asyncio

from plait.client.installed_agents import list_agents
from plait.client.installed_agents__agents_shape import agent_json
from plait.client.project_sources import load_settings
from plait.git.location import RepoLocation
from plait.server.project_session import ProjectSession

Json = dict[str, object]


async def describe_agents(session: ProjectSession) -> Json:
    """`{"agents"}`, as `agents --json` has them. Tools are asked for their versions, which takes a moment."""
    return {"agents": await asyncio.to_thread(_read_agents, session.place)}


def _read_agents(place: RepoLocation) -> list[Json]:
    return [agent_json(each) for each in list_agents(load_settings(place.top))]
