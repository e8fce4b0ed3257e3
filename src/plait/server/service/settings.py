"""Settings and agents: read, and change settings for running batches too."""

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
)
from plait.client.project_state import load_settings
from plait.core.plan import Problem, Severity
from plait.server.project_session import ProjectSession
from plait.server.service.idempotency import ask_or_queue, hold_key

Json = dict[str, object]
REFUSED_STATE = "refused"
_SETTINGS_LOCK = "settings"  # a change depends on the current settings


async def read_project_settings(session: ProjectSession) -> Json:
    """Every setting by its API name, and under `given` where it comes from."""
    saved = await session.query(lambda client: client.state.saved)
    config = await asyncio.to_thread(load_effective_config, session.place, saved)
    return preferences_json(config, saved)


async def change_settings(session: ProjectSession, patch: Mapping[str, object]) -> Json:
    """The new settings, and in `notes` which open batches keep the old ones; null removes a saved value.

    `accepted`: durable, but no engine has answered yet. Raises InvalidSettingsError or ConfigError; then nothing was saved.
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
    """`{"agents"}` as in `agents --json`. Asking tools for their versions takes a moment."""
    agents = await asyncio.to_thread(lambda: list_agents(load_settings(session.place.top)))
    return {"agents": [agent_json(each) for each in agents]}
