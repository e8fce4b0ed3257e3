"""Reject requests for other host names (DNS rebinding) and from pages of other origins (CSRF).

Ports are not compared: a request through a tunnel names the tunnel's port. There are no CORS headers, so preflights of other
origins are rejected too.
"""

from __future__ import annotations

from starlette.types import Scope

from plait.server.auth import AuthMethod, Caller
from plait.server.http.middleware.policy import HostPort, RequestPolicy, is_ip_address, parse_host_port
from plait.server.http.middleware.rejections import Rejection, get_header, get_headers

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
