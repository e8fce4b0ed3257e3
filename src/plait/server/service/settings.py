"""Settings and agents: read, and change settings for running batches too."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from plait.client.api_errors import StateError
from plait.client.api_models import ProblemDetails, make_problem
from plait.client.installed_agents import Agents, list_agents
from plait.client.json_encoding import Json, to_builtins
from plait.client.preferences import (
    Preferences,
    check_changes,
    describe_preferences,
    load_effective_config,
    plan_change,
)
from plait.client.project_state import load_settings
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.server.project_session import ProjectSession
from plait.server.service.idempotency import ask_or_queue, hold_key

REFUSED_STATE = "refused"
_SETTINGS_LOCK = "settings"  # a change depends on the current settings


async def read_project_settings(session: ProjectSession) -> Preferences:
    """Every setting by its API name, and under `given` where it comes from."""
    saved = await session.query(lambda client: client.state.saved)
    config = await asyncio.to_thread(load_effective_config, session.place, saved)
    return describe_preferences(config, saved)


@dataclass(frozen=True, slots=True)
class ChangedPreferences:
    """`notes` say which open batches keep the old values. `accepted`: no engine has answered yet."""

    preferences: Preferences
    notes: list[ProblemDetails]
    accepted: bool

    def to_json(self) -> Json:
        return {**self.preferences.to_json(), "notes": to_builtins(self.notes), "accepted": self.accepted}


async def change_settings(session: ProjectSession, patch: Mapping[str, object]) -> ChangedPreferences:
    """The new settings, and in `notes` which open batches keep the old ones; null removes a saved value.

    `accepted`: durable, but no engine has answered yet. Raises InvalidSettingsError or ConfigError; then nothing was saved.
    """
    async with hold_key(session, _SETTINGS_LOCK):
        saved = await session.query(lambda client: client.state.saved)
        changes = await asyncio.to_thread(check_changes, session.place, saved, patch)
        change = await session.query(lambda client: plan_change(session.place, client.state, changes))
        answers = await ask_or_queue(session, change.requests) if change.requests else []
    refused = [answer.why for answer in answers if answer.granted is False]
    if refused:
        raise StateError(refused[0], state=REFUSED_STATE)
    stuck = {answer.why for answer in answers if answer.granted is None and answer.why}
    notes = (*change.notes, *(Problem(Severity.WARNING, why) for why in stuck))
    return ChangedPreferences(
        await read_project_settings(session),
        [make_problem(note) for note in notes],
        accepted=any(answer.granted is None for answer in answers),
    )


async def describe_agents(session: ProjectSession) -> Agents:
    """As in `agents --json`. Asking tools for their versions takes a moment."""
    return Agents(await asyncio.to_thread(lambda: list_agents(load_settings(session.place.top))))
