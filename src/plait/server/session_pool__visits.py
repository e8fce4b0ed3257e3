"""Visits: requests that are being answered, and the offices they are in. Who only listens is asked to leave when an office or
the server closes, and comes back by itself.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plait.server.project_session import ProjectSession
from plait.server.projects import Project

_EVENT_STREAM = b"text/event-stream"


class RequestScope:
    """`over` is set when those who only listen have to leave."""

    def __init__(self) -> None:
        self.closing = asyncio.Event()
        self.sessions: set[PooledSession] = set()


class PooledSession:
    """An open office, and who is in it."""

    def __init__(self, project: Project, session: ProjectSession) -> None:
        self.project, self.session = project, session
        self.scopes: set[RequestScope] = set()
        self.last_used = time.monotonic()
        self.unused = asyncio.Event()
        self.unused.set()

    def add_scope(self, scope: RequestScope | None) -> None:
        """None: somebody who won't say when they leave."""
        self.last_used = time.monotonic()
        if scope is not None:
            scope.sessions.add(self)
            self.scopes.add(scope)
            self.unused.clear()

    def remove_scope(self, scope: RequestScope) -> None:
        self.last_used = time.monotonic()
        self.scopes.discard(scope)
        if not self.scopes:
            self.unused.set()


current_scope: ContextVar[RequestScope | None] = ContextVar("plait-visit", default=None)


class RequestScopeMiddleware:
    """Stands around the app: every request is a visit."""

    def __init__(self, app: ASGIApp, open_scope: Callable[[], AbstractContextManager[RequestScope]]) -> None:
        self._app, self._open_scope = app, open_scope

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with self._open_scope() as request_scope:
            exchange = _ScopedExchange(request_scope, receive, send)
            await self._app(scope, exchange.receive, exchange.send)
            await exchange.finish()


class _ScopedExchange:
    """What the app hears and says. When the visit is over, a stream hears that the reader has gone, and is ended."""

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
        """A stream that was cut short is whole nevertheless: the reader comes back for the rest."""
        if self._is_stream:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
