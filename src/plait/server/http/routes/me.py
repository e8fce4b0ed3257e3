"""Who asks: what they may do here, and whom they speak to."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, Request, Response

from plait import __version__
from plait.server.auth import Access, Caller
from plait.server.http.responses import make_response
from plait.server.http.schema.base import document_responses
from plait.server.http.schema.projects import Me
from plait.server.http.web_page import read_page_version

router = APIRouter(tags=["server"])


@router.get("/api/me", operation_id="getMe", responses=document_responses(Me))
async def me(request: Request) -> Response:
    """What whoever asks may do, and what answers them."""
    caller: Caller | None = request.scope.get("state", {}).get("caller")
    body = {
        "access": "look" if caller is not None and caller.access is Access.READ else "all",
        "by": caller.by.value if caller is not None else None,
        "version": __version__,
        "page": await asyncio.to_thread(read_page_version),
    }
    return make_response(body)
