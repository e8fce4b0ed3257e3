"""HEAD: whoever may GET something may ask for its headers alone. The server that sends them leaves the body out."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

EVENTS_PATH = "/api/events"  # nobody waits for the end of its body


class HeadRequestMiddleware:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "HEAD" and scope["path"] != EVENTS_PATH:
            scope = {**scope, "method": "GET"}
        await self._app(scope, receive, send)
