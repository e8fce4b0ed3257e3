"""Settings and agents."""

from __future__ import annotations

from fastapi import APIRouter, Response

from plait.client.installed_agents import Agents
from plait.client.preferences import SettingsForm, describe_settings
from plait.server.http.responses import make_response
from plait.server.http.routes.dependencies import SessionDep
from plait.server.http.schema.base import document_responses
from plait.server.http.schema.settings import ChangedPreferences, Preferences, PreferencesPatch
from plait.server.service import settings

router = APIRouter(tags=["settings"])


@router.get("/api/settings", operation_id="getSettings", responses=document_responses(Preferences, 409))
async def shown(session: SessionDep) -> Response:
    """Every setting by its name, and where it comes from."""
    return make_response((await settings.read_project_settings(session)).to_json())


@router.patch(
    "/api/settings",
    operation_id="changeSettings",
    responses=document_responses(
        ChangedPreferences,
        409,
        also={202: {"model": ChangedPreferences, "description": "Durable, but no engine has answered yet"}},
    ),
)
async def change(session: SessionDep, body: PreferencesPatch) -> Response:
    """Save settings, all or none; null removes a saved value. They apply at once, also to running batches."""
    changed = await settings.change_settings(session, body.root)
    return make_response(changed.to_json(), 202 if changed.accepted else 200)


@router.get("/api/settings/schema", operation_id="describeSettings", responses=document_responses(SettingsForm))
async def described() -> Response:
    """What each setting means, and its allowed values."""
    return make_response(describe_settings())


@router.get("/api/agents", operation_id="listAgents", responses=document_responses(Agents, 409))
async def listed(session: SessionDep) -> Response:
    """The known agents: which are installed, and which are logged in."""
    return make_response(await settings.describe_agents(session))
