"""Requests that were meant for this server: a name that an attacker makes point here (DNS rebinding) is not one of its own.

The port is not looked at: whoever reaches the server through a tunnel names the tunnel's, and no name is safer by its port.

Requests of the server's own pages, or of no page at all: what other pages make a browser send is not the person's wish.

There are no CORS headers, here or elsewhere, so another origin's preflight is refused like everything else of it.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from plait.server.auth import AuthMethod, Caller
from plait.server.http.middleware.policy import HostPort, RequestPolicy, is_ip_address, parse_host_port
from plait.server.http.middleware.rejections import Rejection, get_header, get_headers, reject

_UNKNOWN_HOST = Rejection(
    421,
    "this server is not known by that name",
    hint="Ask for it as 127.0.0.1 or localhost, or start it with --allow-host NAME.",
    close=True,
)


class HostCheckMiddleware:
    def __init__(self, app: ASGIApp, policy: RequestPolicy) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _is_allowed_host(get_request_host(scope), self._policy):
            await self._app(scope, receive, send)
        else:
            await reject(_UNKNOWN_HOST, scope, send)


def get_request_host(scope: Scope) -> HostPort | None:
    """None where there is no Host, more than one, or none that could be one."""
    return parse_host_port((get_header(scope, b"host") or b"").decode("latin-1"))


def _is_allowed_host(host: HostPort | None, policy: RequestPolicy) -> bool:
    return host is not None and (host.host in policy.hosts or (policy.allow_any_ip and is_ip_address(host.host)))


SAFE_METHODS = frozenset({"GET", "HEAD"})


_FOREIGN_ORIGIN = Rejection(
    403, "this request comes from a page of another origin", hint="Only the server's own pages may ask."
)


_MISSING_ORIGIN = Rejection(
    403,
    "this request does not say which page it comes from",
    hint="A browser says so by itself (Origin). Programs send the token: Authorization: Bearer.",
)


class OriginCheckMiddleware:
    def __init__(self, app: ASGIApp, policy: RequestPolicy) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _is_own_origin(scope, self._policy):
            await self._app(scope, receive, send)
        else:
            await reject(_FOREIGN_ORIGIN, scope, send)


class CsrfMiddleware:
    """A browser sends the cookie by itself, whoever makes it ask: then it has to be seen that our own page did. Stands
    behind who tells the caller.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = _check_cookie_request(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            await reject(refusal, scope, send)


def _is_own_origin(scope: Scope, policy: RequestPolicy) -> bool:
    """`Origin: null` is a page that hides where it comes from, and never ours."""
    headers, host = get_headers(scope, b"origin"), get_request_host(scope)
    if not headers:
        return True
    origin = headers[0].decode("latin-1")
    return (
        len(headers) == 1
        and host is not None
        and (origin == host.to_origin(scope["scheme"]) or origin in policy.origins)
    )


def _check_cookie_request(scope: Scope) -> Rejection | None:
    caller: Caller | None = scope.get("state", {}).get("caller")
    if caller is None or caller.by is not AuthMethod.COOKIE:
        return None
    site = get_header(scope, b"sec-fetch-site")
    if scope["method"] not in SAFE_METHODS:
        return None if get_header(scope, b"origin") or site == b"same-origin" else _MISSING_ORIGIN
    # Another port of the same name is the same site, and its pages' requests carry the cookie.
    return _FOREIGN_ORIGIN if site in {b"same-site", b"cross-site"} and not _is_document_navigation(scope) else None


def _is_document_navigation(scope: Scope) -> bool:
    """A person follows a link to a page: nobody else sees what it shows."""
    return get_header(scope, b"sec-fetch-mode") == b"navigate" and get_header(scope, b"sec-fetch-dest") == b"document"
