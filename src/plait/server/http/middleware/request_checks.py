"""The names that the server is known by, checks of request heads, and limits on the size and duration of bodies.

Requests for other host names (DNS rebinding) and from pages of other origins (CSRF) are rejected. Ports are not compared: a
request through a tunnel names the tunnel's port. There are no CORS headers, so preflights of other origins are rejected too.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections.abc import Callable, Iterable
from contextlib import suppress

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass
from plait.server.auth import AuthMethod, Caller
from plait.server.http.middleware.rejections import Rejection, get_header, get_headers, get_path, has_body, reject

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})
_WILDCARD_HOSTS = frozenset({"0.0.0.0", "[::]"})  # noqa: S104 - recognised, not bound to
_HOST_PORT_PATTERN = re.compile(r"(\[[0-9a-f:.]{2,45}\]|[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?)(?::([0-9]{1,5}))?")
SCHEME_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class RequestPolicy:
    """Which requests are allowed. `hosts` without ports; `origins` as browsers write them, besides the server's own;
    `allow_any_ip`: IP addresses are safe from DNS rebinding.
    """

    hosts: frozenset[str] = LOOPBACK_HOSTS
    origins: frozenset[str] = frozenset()
    allow_any_ip: bool = False
    max_body_bytes: int = 1 << 20
    body_seconds: float = 30.0
    drain_bytes: int = 32 << 20  # of a rejected body that are read and discarded
    drain_seconds: float = 2.0
    max_url_bytes: int = 16 << 10
    max_header_bytes: int = 32 << 10
    max_header_count: int = 100
    max_auth_failures: int = 10
    auth_failure_seconds: float = 60.0
    recheck_seconds: float = 1.0
    """Between two checks whether a stream's credentials are still valid."""


@dataclass(frozen=True, slots=True)
class HostPort:
    """A host and its port. An IPv6 address is in brackets; `port` None: the scheme's default."""

    host: str
    port: int | None

    def to_origin(self, scheme: str) -> str:
        """Return the origin as browsers write it: without the scheme's default port."""
        plain = self.port is None or self.port == SCHEME_PORTS.get(scheme)
        return f"{scheme}://{self.host}" if plain else f"{scheme}://{self.host}:{self.port}"


def parse_host_port(text: str) -> HostPort | None:
    """Parse a host and port; None if it is invalid, because nothing is guessed or repaired."""
    parsed = _HOST_PORT_PATTERN.fullmatch(text.lower())
    if parsed is None or int(parsed[2] or 1) not in range(1, 65_536):
        return None
    return HostPort(parsed[1], int(parsed[2]) if parsed[2] else None)


def is_ip_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True


def create_policy(host: str = "127.0.0.1", allowed: Iterable[str] = ()) -> RequestPolicy:
    """Create the policy for `--host` and `--allow-host`: names, or origins like https://plait.example.org of a reverse
    proxy with TLS.

    Raises UserError for an invalid one.
    """
    bound = f"[{host}]" if ":" in host and not host.startswith("[") else host
    names, origins = {_check_bind_host(bound)}, set()
    for text in allowed:
        scheme, separator, rest = text.rstrip("/").rpartition("://")
        host_port = parse_host_port(rest)
        if host_port is None or (separator and scheme not in SCHEME_PORTS):
            raise UserError(
                f"--allow-host {text} is not a host",
                hint="Use the form plait.example.org, or https://plait.example.org.",
            )
        names.add(host_port.host)
        origins |= {host_port.to_origin(scheme)} if separator else set()
    everywhere = bool(names & _WILDCARD_HOSTS)
    return RequestPolicy(LOOPBACK_HOSTS | names, frozenset(origins), allow_any_ip=everywhere)


def _check_bind_host(host: str) -> str:
    host_port = parse_host_port(host)
    if host_port is None or host_port.port is not None:
        raise UserError(f"--host {host} is not a host", hint="Use the form 127.0.0.1; the port is --port.")
    return host_port.host


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

# Why a request is rejected; None: it is not.
Check = Callable[[Scope, RequestPolicy], Rejection | None]


class CheckMiddleware:
    """Rejects the requests that one of the checks rejects."""

    def __init__(self, app: ASGIApp, policy: RequestPolicy, *checks: Check) -> None:
        self._app, self._policy, self._checks = app, policy, checks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        rejection = next(filter(None, (check(scope, self._policy) for check in self._checks)), None)
        if rejection is None:
            await self._app(scope, receive, send)
        else:
            await reject(rejection, scope, send)


def check_head(scope: Scope, policy: RequestPolicy) -> Rejection | None:
    """Reject invalid or long heads. h11 limits only heads that arrive in pieces: a long one in a single piece passes."""
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
    is_known = host is not None and (host.host in policy.hosts or (policy.allow_any_ip and is_ip_address(host.host)))
    return None if is_known else _UNKNOWN_HOST


def check_origin(scope: Scope, policy: RequestPolicy) -> Rejection | None:
    """Reject other origins. `Origin: null` is a page that hides its origin, and never ours."""
    headers, host = get_headers(scope, b"origin"), get_request_host(scope)
    if not headers:
        return None
    origin = headers[0].decode("latin-1")
    is_own = host is not None and (origin == host.to_origin(scope["scheme"]) or origin in policy.origins)
    return None if is_own and len(headers) == 1 else _FOREIGN_ORIGIN


def check_csrf(scope: Scope, _: RequestPolicy) -> Rejection | None:
    """Reject requests that another site may have caused. A browser sends the cookie with requests of any page, so they
    must show that our own page made them.

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
    """Return the host of a request; None if there is no Host header, more than one, or an invalid one."""
    return parse_host_port((get_header(scope, b"host") or b"").decode("latin-1"))


def _is_document_navigation(scope: Scope) -> bool:
    """Whether a person follows a link to a page, whose content only that person sees."""
    return get_header(scope, b"sec-fetch-mode") == b"navigate" and get_header(scope, b"sec-fetch-dest") == b"document"


class BodyLimitMiddleware:
    """Passes bodies on as a whole, or not at all. After authentication, so that strangers can't fill memory."""

    def __init__(self, app: ASGIApp, policy: RequestPolicy) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not has_body(scope):
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
        if _parse_length(scope) > limit:
            return _reject_size(limit)
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            if len(body) > limit:
                return _reject_size(limit)
            if not message.get("more_body", False):
                return bytes(body)

    async def _drain(self, receive: Receive) -> None:
        """Read and discard for a while: a client whose upload is cut off often never reads the response."""
        remaining = self._policy.drain_bytes
        with suppress(TimeoutError):
            async with asyncio.timeout(self._policy.drain_seconds):
                while remaining > 0:
                    message = await receive()
                    if message["type"] == "http.disconnect" or not message.get("more_body", False):
                        return
                    remaining -= len(message.get("body", b""))


def _parse_length(scope: Scope) -> int:
    header = (get_header(scope, b"content-length") or b"0").strip()
    return int(header) if header.isdigit() and len(header) < 20 else 1 << 64


def _reject_size(limit: int) -> Rejection:
    return Rejection(413, f"the body is larger than {limit} bytes", hint="Send less at a time.", close=True)


def _replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` with the body in one message, then the messages of the server."""
    given = False

    async def receive_again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again
