"""Requests whose head is in order: of a bearable size, and without characters that have no place in an address.

A body reaches the app whole, or not at all: one that is too large, or too slow, never does.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plait.server.http.middleware.policy import RequestPolicy
from plait.server.http.middleware.rejections import (
    Rejection,
    get_header,
    get_headers,
    get_path,
    has_body,
    reject,
)

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class HeaderLimitMiddleware:
    """h11 bounds only what it has to wait for: a long head that comes in one piece gets past it."""

    def __init__(self, app: ASGIApp, policy: RequestPolicy) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match scope["type"]:
            case "http":
                refusal = _check_head(scope, self._policy)
                if refusal is None:
                    await self._app(scope, receive, send)
                else:
                    await reject(refusal, scope, send)
            case "websocket":  # plait has none: events are server-sent
                await send({"type": "websocket.close", "code": 1008})
            case _:
                await self._app(scope, receive, send)


def _check_head(scope: Scope, policy: RequestPolicy) -> Rejection | None:
    raw = scope.get("raw_path") or get_path(scope).encode("utf-8", "surrogatepass")
    if len(raw) + len(scope.get("query_string", b"")) > policy.max_url_bytes:
        return Rejection(414, f"the address is longer than {policy.max_url_bytes} bytes", close=True)
    if not get_path(scope).startswith("/") or _CONTROL.search(get_path(scope)):
        return Rejection(
            400,
            "the address is none of this server's",
            hint="It begins with a slash and is of printable characters.",
        )
    headers = scope["headers"]
    if (
        len(headers) > policy.max_header_count
        or sum(len(name) + len(value) for name, value in headers) > policy.max_header_bytes
    ):
        return Rejection(431, "there are too many headers, or they are too long", close=True)
    if get_headers(scope, b"content-length") and get_headers(scope, b"transfer-encoding"):
        # A proxy that believes the other one of the two sees other requests than are answered here.
        return Rejection(400, "the body has two lengths", hint="Leave Content-Length out.", close=True)
    return None


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
