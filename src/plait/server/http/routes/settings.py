"""Settings and agents."""

from __future__ import annotations

from fastapi import APIRouter, Response

from plait.client import preferences
from plait.client.installed_agents import Agents
from plait.server.http.responses import make_response
from plait.server.http.routes.dependencies import SessionDep
from plait.server.http.schema.base import document_responses
from plait.server.http.schema.settings import ChangedPreferences, Preferences, PreferencesPatch
from plait.server.service import settings

router = APIRouter(tags=["settings"])


@router.get("/api/settings", responses=document_responses(Preferences, 409))
async def get_settings(session: SessionDep) -> Response:
    """Every setting by its name, and where it comes from."""
    return make_response((await settings.read_project_settings(session)).to_json())


@router.patch(
    "/api/settings",
    responses=document_responses(
        ChangedPreferences,
        409,
        also={202: {"model": ChangedPreferences, "description": "Durable, but no engine has answered yet"}},
    ),
)
async def change_settings(session: SessionDep, body: PreferencesPatch) -> Response:
    """Save settings, all or none; null removes a saved value. They apply at once, also to running batches."""
    changed = await settings.change_settings(session, body.root)
    return make_response(changed.to_json(), 202 if changed.accepted else 200)


@router.get("/api/settings/schema", responses=document_responses(preferences.SettingsForm))
async def describe_settings() -> Response:
    """What each setting means, and its allowed values."""
    return make_response(preferences.describe_settings())


@router.get("/api/agents", responses=document_responses(Agents, 409))
async def list_agents(session: SessionDep) -> Response:
    """The known agents: which are installed, and which are logged in."""
    return make_response(await settings.describe_agents(session))
