"""The end of the server: whoever is not answered by then is told so, and nothing of that is an error."""

from __future__ import annotations

import asyncio
import logging
from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plait.server.http.responses import make_error_response

_SHUTDOWN_ERROR = "the server has ended before this was answered"
_SHUTDOWN_HINT = "Look whether it was done, when the server is back; with an Idempotency-Key, just ask again."


class ShutdownMiddleware:
    """Stands around the app. Nobody but the end of the server cancels a request."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def noted(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except asyncio.CancelledError:
            if begun:
                raise
            await make_error_response(HTTPStatus.SERVICE_UNAVAILABLE, _SHUTDOWN_ERROR, hint=_SHUTDOWN_HINT)(
                scope, receive, send
            )


def is_unexpected(record: logging.LogRecord) -> bool:
    """Whether somebody should read it: uvicorn's error for what it cuts short at its end is none."""
    cause = record.exc_info[1] if record.exc_info else None
    return not isinstance(cause, asyncio.CancelledError) and not str(record.msg).startswith("Cancel %s")
