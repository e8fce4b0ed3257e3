"""What every response carries, whoever made it.

No Strict-Transport-Security: it would hold for the host's name, and so for everything else on localhost, for months, also
after the certificate is gone.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plait.server.guard.refusal import Refusal, path, refuse

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
_POWERS = (
    "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), hid=(), magnetometer=(), "
    "microphone=(), midi=(), payment=(), serial=(), usb=()"
)
ALWAYS = (
    (b"content-security-policy", _POLICY.encode("ascii")),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", _POWERS.encode("ascii")),
)
_OURS = frozenset(name for name, _ in ALWAYS)
_NO_STORE = (b"cache-control", b"no-store")
_TOLD = ("/api/", "/metrics", "/mcp", "/health")  # everything but the page's own files


class SafeHeaders:
    """No route can weaken these, and none can let another origin in. What the app does not answer is answered here."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = False

        async def dressed(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message = {**message, "headers": _dressed(list(message.get("headers", ())), path(scope))}
            await send(message)

        try:
            await self._app(scope, receive, dressed)
        except Exception:
            if not started:
                await refuse(_BROKEN, scope, dressed)
            raise  # for the log of the server: nobody else is told what went wrong inside


def _dressed(headers: list[tuple[bytes, bytes]], where: str) -> list[tuple[bytes, bytes]]:
    kept = [
        (name, value)
        for name, value in headers
        if name.lower() not in _OURS and not name.lower().startswith(b"access-control-")
    ]
    fresh = where.startswith(_TOLD) and not any(name.lower() == b"cache-control" for name, _ in kept)
    return [*kept, *ALWAYS, *([_NO_STORE] if fresh else [])]


_BROKEN = Refusal(
    500,
    "this is a bug in plait: the server failed at it",
    hint="The server's own output says more. Please report it.",
)
