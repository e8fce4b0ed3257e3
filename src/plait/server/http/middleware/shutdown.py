"""Shutdown: unanswered requests get an error response, and event streams end cleanly."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plait.server.http.responses import make_error, make_response
from plait.server.project_session import RequestScope

_SHUTDOWN_ERROR = "the server shut down before it answered"
_SHUTDOWN_HINT = "Check whether it was done when the server is back; with an Idempotency-Key, repeat the request."


class ShutdownMiddleware:
    """Responds to requests that are cancelled; only a shutdown cancels them."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def watched_send(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, receive, watched_send)
        except asyncio.CancelledError:
            if begun:
                raise
            body = make_error(_SHUTDOWN_ERROR, hint=_SHUTDOWN_HINT)
            await make_response(body, HTTPStatus.SERVICE_UNAVAILABLE)(scope, receive, send)


_EVENT_STREAM = b"text/event-stream"


class RequestScopeMiddleware:
    """Gives every request a scope, which keeps the sessions that it uses open."""

    def __init__(self, app: ASGIApp, open_scope: Callable[[], AbstractContextManager[RequestScope]]) -> None:
        self._app, self._open_scope = app, open_scope

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._open_scope() as request_scope:
            exchange = _ScopedExchange(request_scope, receive, send)
            await self._app(scope, exchange.receive, exchange.send)
            await exchange.finish()


class _ScopedExchange:
    """The messages of a request. When its scope is closing, an event stream receives a disconnect and is completed."""

    def __init__(self, request_scope: RequestScope, receive: Receive, send: Send) -> None:
        self._request_scope, self._receive, self._send = request_scope, receive, send
        self._is_stream = self._body_received = False

    async def receive(self) -> Message:
        if not self._body_received:
            message = await self._receive()
            self._body_received = not message.get("more_body", False)
            return message
        received = asyncio.ensure_future(self._receive())
        closing = asyncio.ensure_future(self._request_scope.closing.wait())
        try:
            await asyncio.wait({received, closing}, return_when=asyncio.FIRST_COMPLETED)
            if self._is_stream and not received.done():
                return {"type": "http.disconnect"}
            return await received
        finally:
            received.cancel()
            closing.cancel()

    async def send(self, message: Message) -> None:
        match message["type"]:
            case "http.response.start":
                headers = dict(message.get("headers", ()))
                self._is_stream = headers.get(b"content-type", b"").startswith(_EVENT_STREAM)
            case "http.response.body" if not message.get("more_body", False):
                self._is_stream = False
        await self._send(message)

    async def finish(self) -> None:
        """Complete a stream that was cut short, so that the reader reconnects for the rest."""
        if self._is_stream:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
