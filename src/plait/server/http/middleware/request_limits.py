"""A body reaches the app whole, or not at all: one that is too large, or too slow, never does."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plait.server.http.middleware.policy import RequestPolicy
from plait.server.http.middleware.rejections import Rejection, get_header, has_body, reject


class BodyLimitMiddleware:
    """Stands behind who tells the caller: nothing is kept of what strangers send."""

    def __init__(self, app: ASGIApp, policy: RequestPolicy) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not has_body(scope):
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._policy.body_seconds):
                body = await self._read_body(scope, receive)
        except TimeoutError:
            body = Rejection(408, f"the body took longer than {self._policy.body_seconds:g} s", close=True)
        match body:
            case Rejection():
                await reject(body, scope, send, more_body=True)
                await self._drain(receive)
                await send({"type": "http.response.body", "body": b""})
            case bytes():
                await self._app(scope, _replay_body(body, receive), send)
            case None:  # whoever sent it has left
                return

    async def _read_body(self, scope: Scope, receive: Receive) -> bytes | Rejection | None:
        limit = self._policy.max_body_bytes
        if _declared_length(scope) > limit:
            return _body_too_large(limit)
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            if len(body) > limit:
                return _body_too_large(limit)
            if not message.get("more_body", False):
                return bytes(body)

    async def _drain(self, receive: Receive) -> None:
        """A while, and for nothing: who is cut off in the middle of sending often never reads the answer."""
        left = self._policy.drain_bytes
        with suppress(TimeoutError):
            async with asyncio.timeout(self._policy.drain_seconds):
                while left > 0:
                    message = await receive()
                    if message["type"] == "http.disconnect" or not message.get("more_body", False):
                        return
                    left -= len(message.get("body", b""))


def _declared_length(scope: Scope) -> int:
    header = (get_header(scope, b"content-length") or b"0").strip()
    return int(header) if header.isdigit() and len(header) < 20 else 1 << 64


def _body_too_large(limit: int) -> Rejection:
    return Rejection(413, f"the body is larger than {limit} bytes", hint="Send less at a time.", close=True)


def _replay_body(body: bytes, receive: Receive) -> Receive:
    """The body in one piece; after that, whatever there is to hear."""
    given = False

    async def replayed() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed
