"""Limits on the size and form of request heads, and on the size and duration of bodies."""

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


def check_head(scope: Scope, policy: RequestPolicy) -> Rejection | None:
    """h11 limits only heads that arrive in pieces: a long one in a single piece passes."""
    path, headers = get_path(scope), scope["headers"]
    raw = scope.get("raw_path") or path.encode("utf-8", "surrogatepass")
    if len(raw) + len(scope.get("query_string", b"")) > policy.max_url_bytes:
        return Rejection(414, f"the URL is longer than {policy.max_url_bytes} bytes", close=True)
    if not path.startswith("/") or _CONTROL.search(path):
        return Rejection(400, "invalid request path", hint="It has to start with a slash, without control characters.")
    size = sum(len(name) + len(value) for name, value in headers)
    if len(headers) > policy.max_header_count or size > policy.max_header_bytes:
        return Rejection(431, "there are too many headers, or they are too long", close=True)
    if get_headers(scope, b"content-length") and get_headers(scope, b"transfer-encoding"):
        # A proxy that honours the other header would see different requests.
        return Rejection(400, "the body has two lengths", hint="Omit Content-Length.", close=True)
    return None


class BodyLimitMiddleware:
    """A body reaches the app completely or not at all. Comes after authentication: others can't fill memory."""

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
            case None:  # the client has disconnected
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
        """Read and discard for a while: a client that is cut off while sending often never reads the response."""
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
    """The body in one message, then the messages of the server."""
    given = False

    async def replayed() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed
