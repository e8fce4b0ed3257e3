"""Security headers of every response.

No Strict-Transport-Security: it would apply to everything else on localhost, for months.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plait.server.http.middleware.rejections import Rejection, get_path, reject

_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
# The only other policy that a route may set: for content that isn't ours, and no page either.
SANDBOXED_CONTENT = "default-src 'none'; frame-ancestors 'none'; sandbox"
_PERMISSIONS_POLICY = (
    "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), hid=(), magnetometer=(), "
    "microphone=(), midi=(), payment=(), serial=(), usb=()"
)
SECURITY_HEADERS = (
    (b"content-security-policy", _CONTENT_SECURITY_POLICY.encode("ascii")),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", _PERMISSIONS_POLICY.encode("ascii")),
)
_SECURITY_HEADER_NAMES = frozenset(name for name, _ in SECURITY_HEADERS)
_SANDBOXED = (b"content-security-policy", SANDBOXED_CONTENT.encode("ascii"))
_NO_STORE = (b"cache-control", b"no-store")
_UNCACHED_PATHS = ("/api/", "/metrics", "/mcp", "/health")  # everything but the page's own files


class SecurityHeadersMiddleware:
    """Adds the headers. Routes can't weaken them, only choose SANDBOXED_CONTENT. Exceptions of the app get an error
    response here.

    The outermost one, so the others see only HTTP: web sockets are closed, because events are server-sent.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        started = False

        async def send_with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                message = {
                    **message,
                    "headers": _add_headers(list(message.get("headers", ())), get_path(scope)),
                }
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except Exception:
            if not started:
                await reject(_SERVER_ERROR, scope, send_with_headers)
            raise  # for the server's log


def _add_headers(headers: list[tuple[bytes, bytes]], path: str) -> list[tuple[bytes, bytes]]:
    kept = [
        (name, value)
        for name, value in headers
        if name.lower() not in _SECURITY_HEADER_NAMES and not name.lower().startswith(b"access-control-")
    ]
    is_sandboxed = any((name.lower(), value) == _SANDBOXED for name, value in headers)
    added = dict(SECURITY_HEADERS) | (dict([_SANDBOXED]) if is_sandboxed else {})
    uncached = path.startswith(_UNCACHED_PATHS) and not any(name.lower() == b"cache-control" for name, _ in kept)
    return [*kept, *added.items(), *([_NO_STORE] if uncached else [])]


_SERVER_ERROR = Rejection(
    500,
    "this is a bug in plait",
    hint="Please report it, with the server's output.",
)
