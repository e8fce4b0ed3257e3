"""The settings: shown with who gave them, saved, and in force at once.

The agents: which are here, and which are logged in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from plait.client.api_errors import StateError, problem_json
from plait.client.installed_agents import agent_json, list_agents
from plait.client.preferences import (
    check_changes,
    load_effective_config,
    plan_change,
    preferences_json,
    preferences_schema,
)
from plait.client.project_state import load_settings
from plait.core.plan import Problem, Severity
from plait.git.location import RepoLocation
from plait.server.project_session import ProjectSession
from plait.server.service.idempotency import ask_or_queue, hold_key

Json = dict[str, object]


REFUSED_STATE = "refused"


_SETTINGS_LOCK = "settings"  # what changes mean follows from what is in force: one after another


async def read_project_settings(session: ProjectSession) -> Json:
    """Every setting by the name of the API, and under `given` who gave it."""
    saved = await session.query(lambda client: client.state.saved)
    config = await asyncio.to_thread(load_effective_config, session.place, saved)
    return preferences_json(config, saved)


async def describe_settings() -> Json:
    """What each of them means, and what may be said in its place."""
    return preferences_schema()


async def change_settings(session: ProjectSession, patch: Mapping[str, object]) -> Json:
    """The settings as they are then, and in `notes` which open batches keep what they have; null forgets what was saved.

    `accepted`: it is safe, and no engine has answered yet. Raises UnfitSettingsError or ConfigError; then nothing was saved.
    """
    async with hold_key(session, _SETTINGS_LOCK):
        saved = await session.query(lambda client: client.state.saved)
        wanted = await asyncio.to_thread(check_changes, session.place, saved, patch)
        way = await session.query(lambda client: plan_change(session.place, client.state, wanted))
        answers = await ask_or_queue(session, way.requests) if way.requests else []
    refused = [answer.why for answer in answers if answer.granted is False]
    if refused:
        raise StateError(refused[0], state=REFUSED_STATE)
    stuck = {answer.why for answer in answers if answer.granted is None and answer.why}
    notes = (*way.notes, *(Problem(Severity.WARNING, why) for why in stuck))
    return await read_project_settings(session) | {
        "notes": [problem_json(note) for note in notes],
        "accepted": any(answer.granted is None for answer in answers),
    }


async def describe_agents(session: ProjectSession) -> Json:
    """`{"agents"}`, as `agents --json` has them. Tools are asked for their versions, which takes a moment."""
    return {"agents": await asyncio.to_thread(_read_agents, session.place)}


def _read_agents(place: RepoLocation) -> list[Json]:
    return [agent_json(each) for each in list_agents(load_settings(place.top))]
