"""Requests whose head is in order: of a bearable size, and without characters that have no place in an address."""

from __future__ import annotations

import re

from starlette.types import ASGIApp, Receive, Scope, Send

from plait.server.http.middleware.policy import RequestPolicy
from plait.server.http.middleware.rejections import Rejection, get_headers, get_path, reject

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
