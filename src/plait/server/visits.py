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

from plait.server.office import Office
from plait.server.projects import Project

_STREAM = b"text/event-stream"


class Visit:
    """`over` is set when those who only listen have to leave."""

    def __init__(self) -> None:
        self.over = asyncio.Event()
        self.kept: set[Kept] = set()


class Kept:
    """An open office, and who is in it."""

    def __init__(self, project: Project, office: Office) -> None:
        self.project, self.office = project, office
        self.visits: set[Visit] = set()
        self.used = time.monotonic()
        self.empty = asyncio.Event()
        self.empty.set()

    def enter(self, visit: Visit | None) -> None:
        """None: somebody who won't say when they leave."""
        self.used = time.monotonic()
        if visit is not None:
            visit.kept.add(self)
            self.visits.add(visit)
            self.empty.clear()

    def left(self, visit: Visit) -> None:
        self.used = time.monotonic()
        self.visits.discard(visit)
        if not self.visits:
            self.empty.set()


current: ContextVar[Visit | None] = ContextVar("plait-visit", default=None)


class Visitors:
    """Stands around the app: every request is a visit."""

    def __init__(self, app: ASGIApp, visit: Callable[[], AbstractContextManager[Visit]]) -> None:
        self._app, self._visit = app, visit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with self._visit() as visit:
            answer = _Answer(visit, receive, send)
            await self._app(scope, answer.receive, answer.send)
            await answer.end()


class _Answer:
    """What the app hears and says. When the visit is over, a stream hears that the reader has gone, and is ended."""

    def __init__(self, visit: Visit, receive: Receive, send: Send) -> None:
        self._visit, self._receive, self._send = visit, receive, send
        self._streams = self._heard = False

    async def receive(self) -> Message:
        if not self._heard:
            message = await self._receive()
            self._heard = not message.get("more_body", False)
            return message
        hearing = asyncio.ensure_future(self._receive())
        leaving = asyncio.ensure_future(self._visit.over.wait())
        try:
            await asyncio.wait({hearing, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if self._streams and not hearing.done():
                return {"type": "http.disconnect"}
            return await hearing
        finally:
            hearing.cancel()
            leaving.cancel()

    async def send(self, message: Message) -> None:
        match message["type"]:
            case "http.response.start":
                headers = dict(message.get("headers", ()))
                self._streams = headers.get(b"content-type", b"").startswith(_STREAM)
            case "http.response.body" if not message.get("more_body", False):
                self._streams = False
        await self._send(message)

    async def end(self) -> None:
        """A stream that was cut short is whole nevertheless: the reader comes back for the rest."""
        if self._streams:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
