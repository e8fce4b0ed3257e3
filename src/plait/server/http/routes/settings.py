"""Settings and agents: read settings, and change them for running batches too."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import Field, JsonValue, RootModel, WithJsonSchema, create_model

from plait.client import installed_agents, preferences
from plait.client.api_errors import StateError
from plait.client.api_models import ProblemDetails, make_problem
from plait.client.json_encoding import Json, to_builtins
from plait.client.project_state import load_project_config
from plait.config.key import AnyKey
from plait.config.keys import KEYS
from plait.config.value_types import ValueKind
from plait.core.plan import Problem, Severity
from plait.server.http.routes.routing import DURABLE, ERRORS_BUT_CONFLICT, Routes, SessionDep
from plait.server.http.schema import ApiModel
from plait.server.idempotency import ask_or_queue, hold_key
from plait.server.project_session import ProjectSession

routes = Routes("settings")

_REFUSED_STATE = "refused"
_SETTINGS_LOCK = "settings"  # a change depends on the current settings


def _choice_type(choices: Sequence[str]) -> Any:  # a type that is made just now
    return Annotated[str, WithJsonSchema({"type": "string", "enum": list(choices)})]


def _field_type(key: AnyKey) -> Any:
    match key.value_type.kind:
        case ValueKind.CHOICE:
            shape = _choice_type(key.value_type.choices)
        case ValueKind.CHOICES:
            shape = Sequence[_choice_type(key.value_type.choices)]  # type: ignore[misc]  # as it is made just now
        case ValueKind.TABLE:
            shape = dict[str, JsonValue]
        case _:
            shape = key.value_type.json_type
    return shape | None if key.default is None else shape


# Fields get other names, because some settings are named like attributes of every model. Any: as in `create_model`.
_FIELDS: dict[str, Any] = {
    f"the_{key.field}": (_field_type(key), Field(alias=key.json_name, description=key.about)) for key in KEYS
}

Preferences: type[ApiModel] = create_model(
    "Preferences",
    __base__=ApiModel,
    __doc__="Every setting by its name, and under `given` where it comes from. Durations in seconds, sizes in bytes.",
    **_FIELDS,
    given=(dict[str, preferences.SettingOrigin], ...),
)

ChangedPreferences: type[ApiModel] = create_model(
    "ChangedPreferences",
    __base__=Preferences,
    __doc__="`notes` say which open batches keep the old values. `accepted`: no engine has answered yet.",
    notes=(list[ProblemDetails], ...),
    accepted=(bool, ...),
)


class PreferencesPatch(RootModel[dict[str, JsonValue]]):
    """Values by the names of GET /api/settings; null removes a saved value."""


@routes.add("GET", "/api/settings", Preferences)
async def get_settings(session: SessionDep) -> Json:
    """Every setting by its name, and where it comes from."""
    return (await read_preferences(session)).to_json()


async def read_preferences(session: ProjectSession) -> preferences.Preferences:
    saved = await session.query(lambda client: client.state.saved)
    config = await asyncio.to_thread(preferences.load_effective_config, session.location, saved)
    return preferences.describe_preferences(config, saved)


@routes.add("PATCH", "/api/settings", ChangedPreferences, accepted=(DURABLE, lambda changed: bool(changed["accepted"])))
async def change_settings(session: SessionDep, body: PreferencesPatch) -> Json:
    """Save settings, all or none; null removes a saved value. They apply at once, also to running batches."""
    async with hold_key(session, _SETTINGS_LOCK):
        saved = await session.query(lambda client: client.state.saved)
        changes = await asyncio.to_thread(preferences.check_changes, session.location, saved, body.root)
        await asyncio.to_thread(preferences.trust_saved_commands, session.location, changes)
        change = await session.query(lambda client: preferences.plan_change(session.location, client.state, changes))
        answers = await ask_or_queue(session, change.requests) if change.requests else []
    refused = [answer.why for answer in answers if answer.granted is False]
    if refused:
        raise StateError(refused[0], state=_REFUSED_STATE)
    stuck = {answer.why for answer in answers if answer.granted is None and answer.why}
    notes = (*change.notes, *(Problem(Severity.WARNING, reason) for reason in stuck))
    return {
        **await get_settings(session),
        "notes": to_builtins([make_problem(note) for note in notes]),
        "accepted": any(answer.granted is None for answer in answers),
    }


@routes.add("GET", "/api/settings/schema", preferences.SettingsForm, errors=ERRORS_BUT_CONFLICT)
async def describe_settings() -> preferences.SettingsForm:
    """What each setting means, and its allowed values."""
    return preferences.describe_settings()


@routes.add("GET", "/api/agents", installed_agents.Agents)
async def list_agents(session: SessionDep) -> installed_agents.Agents:
    """The known agents: which are installed, and which are logged in."""
    location = session.location
    agents = await asyncio.to_thread(lambda: installed_agents.list_agents(load_project_config(location.top)))
    return installed_agents.Agents(agents, installed_agents.describe_permissions(agents) or None)
