"""Checks of request heads, and limits on the size and duration of bodies.

Requests for other host names (DNS rebinding) and from pages of other origins (CSRF) are rejected. Ports are not compared: a
request through a tunnel names the tunnel's port. There are no CORS headers, so preflights of other origins are rejected too.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plait.server.auth import AuthMethod, Caller
from plait.server.http.middleware.policy import HostPort, RequestPolicy, is_ip_address, parse_host_port
from plait.server.http.middleware.rejections import Rejection, get_header, get_headers, get_path, has_body, reject

SAFE_METHODS = frozenset({"GET", "HEAD"})

_UNKNOWN_HOST = Rejection(
    421,
    "this server is not known by that name",
    hint="Use 127.0.0.1 or localhost, or start it with --allow-host NAME.",
    close=True,
)
_FOREIGN_ORIGIN = Rejection(
    403, "this request comes from a page of another origin", hint="Only the server's own pages may send requests."
)
_MISSING_ORIGIN = Rejection(
    403,
    "this request has no Origin header",
    hint="Browsers send it by themselves. Programs send the token: Authorization: Bearer.",
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


def check_host(scope: Scope, policy: RequestPolicy) -> Rejection | None:
    host = get_request_host(scope)
    known = host is not None and (host.host in policy.hosts or (policy.allow_any_ip and is_ip_address(host.host)))
    return None if known else _UNKNOWN_HOST


def check_origin(scope: Scope, policy: RequestPolicy) -> Rejection | None:
    """`Origin: null` is a page that hides its origin, and never ours."""
    headers, host = get_headers(scope, b"origin"), get_request_host(scope)
    if not headers:
        return None
    origin = headers[0].decode("latin-1")
    own = host is not None and (origin == host.to_origin(scope["scheme"]) or origin in policy.origins)
    return None if own and len(headers) == 1 else _FOREIGN_ORIGIN


def check_csrf(scope: Scope, _: RequestPolicy) -> Rejection | None:
    """A browser sends the cookie with requests of any page, so they must show that our own page made them.

    Needs the caller of AuthenticationMiddleware.
    """
    caller: Caller | None = scope.get("state", {}).get("caller")
    if caller is None or caller.by is not AuthMethod.COOKIE:
        return None
    site = get_header(scope, b"sec-fetch-site")
    if scope["method"] not in SAFE_METHODS:
        return None if get_header(scope, b"origin") or site == b"same-origin" else _MISSING_ORIGIN
    # Another port of the same name is the same site, and its pages' requests carry the cookie.
    foreign = site in {b"same-site", b"cross-site"} and not _is_document_navigation(scope)
    return _FOREIGN_ORIGIN if foreign else None


def get_request_host(scope: Scope) -> HostPort | None:
    """None if there is no Host header, more than one, or an invalid one."""
    return parse_host_port((get_header(scope, b"host") or b"").decode("latin-1"))


def _is_document_navigation(scope: Scope) -> bool:
    """A person follows a link to a page: only they see what it shows."""
    return get_header(scope, b"sec-fetch-mode") == b"navigate" and get_header(scope, b"sec-fetch-dest") == b"document"


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
