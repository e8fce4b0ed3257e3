"""Settings and agents."""

from __future__ import annotations

from fastapi import APIRouter, Response

from plait.server.acts import agents, settings
from plait.server.replies import reply
from plait.server.routes.common import InOffice
from plait.server.shapes.errors import answers
from plait.server.shapes.places import Agents
from plait.server.shapes.settings import (
    ChangedPreferences,
    Preferences,
    PreferencesPatch,
    PreferencesSchema,
)

router = APIRouter(tags=["settings"])


@router.get("/api/settings", operation_id="getSettings", responses=answers(Preferences, 409))
async def shown(office: InOffice) -> Response:
    """Every setting by its name, and who gave it."""
    return reply(await settings.shown(office))


@router.patch(
    "/api/settings",
    operation_id="changeSettings",
    responses=answers(
        ChangedPreferences,
        409,
        also={
            202: {"model": ChangedPreferences, "description": "It is safe, and no engine has answered yet"}
        },
    ),
)
async def change(office: InOffice, body: PreferencesPatch) -> Response:
    """Save settings, all or none; null forgets one. They count at once, also for what is running."""
    told = await settings.change(office, body.root)
    return reply(told, 202 if told["accepted"] else 200)


@router.get("/api/settings/schema", operation_id="describeSettings", responses=answers(PreferencesSchema))
async def described() -> Response:
    """What each setting means, and what may be said in its place."""
    return reply(await settings.described())


@router.get("/api/agents", operation_id="listAgents", responses=answers(Agents, 409))
async def listed(office: InOffice) -> Response:
    """The agents that plait knows: which are here, and which are logged in."""
    return reply(await agents.listed(office))
