"""Requests whose head is in order: of a bearable size, and without characters that have no place in an address."""

from __future__ import annotations

import re

from starlette.types import ASGIApp, Receive, Scope, Send

from plait.server.guard.refusal import Refusal, fields, path, refuse
from plait.server.guard.rules import Rules

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


class SoundHeads:
    """h11 bounds only what it has to wait for: a long head that comes in one piece gets past it."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match scope["type"]:
            case "http":
                refusal = _unsound(scope, self._rules)
                if refusal is None:
                    await self._app(scope, receive, send)
                else:
                    await refuse(refusal, scope, send)
            case "websocket":  # plait has none: events are server-sent
                await send({"type": "websocket.close", "code": 1008})
            case _:
                await self._app(scope, receive, send)


def _unsound(scope: Scope, rules: Rules) -> Refusal | None:
    raw = scope.get("raw_path") or path(scope).encode("utf-8", "surrogatepass")
    if len(raw) + len(scope.get("query_string", b"")) > rules.url:
        return Refusal(414, f"the address is longer than {rules.url} bytes", close=True)
    if not path(scope).startswith("/") or _CONTROL.search(path(scope)):
        return Refusal(
            400,
            "the address is none of this server's",
            hint="It begins with a slash and is of printable characters.",
        )
    headers = scope["headers"]
    if len(headers) > rules.fields or sum(len(name) + len(value) for name, value in headers) > rules.head:
        return Refusal(431, "there are too many headers, or they are too long", close=True)
    if fields(scope, b"content-length") and fields(scope, b"transfer-encoding"):
        # A proxy that believes the other one of the two sees other requests than are answered here.
        return Refusal(400, "the body has two lengths", hint="Leave Content-Length out.", close=True)
    return None
