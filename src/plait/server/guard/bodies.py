"""A body reaches the app whole, or not at all: one that is too large, or too slow, never does."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plait.server.guard.refusal import Refusal, field, has_body, refuse
from plait.server.guard.rules import Rules


class WholeBodies:
    """Stands behind who tells the caller: nothing is kept of what strangers send."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not has_body(scope):
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._rules.body_seconds):
                body = await self._whole(scope, receive)
        except TimeoutError:
            body = Refusal(408, f"the body took longer than {self._rules.body_seconds:g} s", close=True)
        match body:
            case Refusal():
                await refuse(body, scope, send, linger=True)
                await self._hear_out(receive)
                await send({"type": "http.response.body", "body": b""})
            case bytes():
                await self._app(scope, _replayed(body, receive), send)
            case None:  # whoever sent it has left
                return

    async def _whole(self, scope: Scope, receive: Receive) -> bytes | Refusal | None:
        most = self._rules.body
        if _announced(scope) > most:
            return _too_large(most)
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            if len(body) > most:
                return _too_large(most)
            if not message.get("more_body", False):
                return bytes(body)

    async def _hear_out(self, receive: Receive) -> None:
        """A while, and for nothing: who is cut off in the middle of sending often never reads the answer."""
        left = self._rules.linger
        with suppress(TimeoutError):
            async with asyncio.timeout(self._rules.linger_seconds):
                while left > 0:
                    message = await receive()
                    if message["type"] == "http.disconnect" or not message.get("more_body", False):
                        return
                    left -= len(message.get("body", b""))


def _announced(scope: Scope) -> int:
    said = (field(scope, b"content-length") or b"0").strip()
    return int(said) if said.isdigit() and len(said) < 20 else 1 << 64


def _too_large(most: int) -> Refusal:
    return Refusal(413, f"the body is larger than {most} bytes", hint="Send less at a time.", close=True)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body in one piece; after that, whatever there is to hear."""
    given = False

    async def replayed() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed
