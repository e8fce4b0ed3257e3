"""Authentication by token or session cookie, rate limiting of failures, read-only access, and login by a one-time link.

Event streams end when the credentials that opened them are revoked.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import parse_qs

from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plait.core.errors import WorldError
from plait.server import DEFAULT_URL
from plait.server.auth import (
    COOKIE_SECONDS,
    LOGIN_PATH,
    SESSION_COOKIE,
    Access,
    Authenticator,
    Caller,
    InvalidCode,
)
from plait.server.http.middleware.rejections import (
    STYLESHEET,
    STYLESHEET_PATH,
    Rejection,
    get_headers,
    get_path,
    has_body,
    reject,
)
from plait.server.http.middleware.request_checks import SAFE_METHODS, RequestPolicy, get_request_host

HEALTH_PATH = "/health"
MCP_PATH = "/mcp"
_MAX_COOKIES = 8
_BEARER_CHALLENGE = ((b"www-authenticate", b"Bearer"),)

_MISSING_TOKEN = Rejection(
    401,
    "this needs a token",
    hint="Programs send Authorization: Bearer with the output of `plait token`. Browsers log in by the link that "
    "`plait token --link` prints.",
    headers=_BEARER_CHALLENGE,
    unauthenticated=True,
)

_WRONG_TOKEN = Rejection(401, "wrong token", hint="Print the current one: plait token.", headers=_BEARER_CHALLENGE)
_READ_ONLY_TOKEN = Rejection(403, "this token is read-only", hint="Print the one for changes: plait token.")
TOKEN_UNREADABLE = Rejection(503, "the server can't read its token", hint="Run on the server's machine: plait token.")
CallerCheck = Callable[[], Caller | None]


class AuthenticationMiddleware:
    """Puts the Caller into `scope["state"]["caller"]`. Only the health check needs no authentication."""

    def __init__(
        self,
        app: ASGIApp,
        authenticator: Authenticator,
        rate_limiter: AuthRateLimiter,
        policy: RequestPolicy,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app, self._authenticator, self._rate_limiter = app, authenticator, rate_limiter
        self._policy, self._now = policy, now

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if _is_health_check(scope):
            await self._app(scope, receive, send)
            return
        check = _make_caller_check(scope, self._authenticator)
        try:
            caller = self._authenticate(scope, check)
        except WorldError:
            caller = TOKEN_UNREADABLE
        if isinstance(caller, Rejection):
            await reject(caller, scope, send)
            return
        set_caller(scope, caller)
        checked_send = end_when_revoked(send, check, self._policy.recheck_seconds, self._now)
        await self._app(scope, receive, checked_send)

    def _authenticate(self, scope: Scope, check: CallerCheck) -> Caller | Rejection:
        caller = check()
        if caller is not None:
            return caller
        if not get_headers(scope, b"authorization"):  # browsers send stale cookies by themselves
            return replace(_MISSING_TOKEN, person=describe_missing_login(scope, self._policy))
        return self._rate_limiter.record_failure(scope) or _WRONG_TOKEN


def check_read_only(scope: Scope, _: RequestPolicy) -> Rejection | None:
    """Reject requests of read-only callers other than GET and HEAD, and POST to MCP, which restricts its tools itself.

    Needs the caller of AuthenticationMiddleware.
    """
    caller: Caller | None = scope.get("state", {}).get("caller")
    restricted = caller is not None and caller.access is Access.READ
    allowed = scope["method"] in SAFE_METHODS or get_path(scope) == MCP_PATH
    return _READ_ONLY_TOKEN if restricted and not allowed else None


def describe_missing_login(scope: Scope, policy: RequestPolicy) -> tuple[str, str]:
    return (
        "this browser is not logged in",
        f"Run this on the server's machine, and open the link that it prints: {format_link_command(scope, policy)}",
    )


def format_link_command(scope: Scope, policy: RequestPolicy) -> str:
    """Return the command that prints a login link for this URL."""
    host_port = get_request_host(scope)
    url = DEFAULT_URL if host_port is None else host_port.to_origin("https" if is_secure(scope, policy) else "http")
    return f"`plait token --link{'' if url == DEFAULT_URL else f' --url {url}'}`"


def is_secure(scope: Scope, policy: RequestPolicy) -> bool:
    """Whether TLS is used, here or at a configured reverse proxy."""
    host_port = get_request_host(scope)
    return scope["scheme"] == "https" or (host_port is not None and host_port.to_origin("https") in policy.origins)


def _is_health_check(scope: Scope) -> bool:
    """Whether it is a health check without a body: none is read before authentication."""
    return get_path(scope) == HEALTH_PATH and scope["method"] in SAFE_METHODS and not has_body(scope)


def set_caller(scope: Scope, caller: Caller) -> None:
    state = scope.setdefault("state", {})
    state["caller"] = caller
    if connection := state.get("connection"):  # then it doesn't count as unauthenticated
        connection.mark_authenticated()


def find_cookie_caller(scope: Scope, authenticator: Authenticator) -> Caller | None:
    """Return the caller with any cookie of that name: another server of this host may have set one too."""
    pairs = (
        pair.strip().partition("=")
        for line in get_headers(scope, b"cookie")
        for pair in line.decode("latin-1").split(";")
    )
    values = [value.strip('"') for name, _, value in pairs if name == SESSION_COOKIE]
    return next(filter(None, map(authenticator.check_cookie, values[:_MAX_COOKIES])), None)


def _make_caller_check(scope: Scope, authenticator: Authenticator) -> CallerCheck:
    """Return a check of the presented credentials that can be repeated. A token takes precedence over a cookie."""
    headers = get_headers(scope, b"authorization")
    if not headers:
        return lambda: find_cookie_caller(scope, authenticator)
    kind, _, token = headers[0].partition(b" ")
    is_bearer = len(headers) == 1 and kind.lower() == b"bearer"
    return lambda: authenticator.check_token(token.strip()) if is_bearer else None


def end_when_revoked(send: Send, is_valid: Callable[[], object], seconds: float, now: Callable[[], float]) -> Send:
    """Return a `send` that works until the credentials are revoked. A stream then ends as if complete, so that the
    client reconnects; a response with a known length is always sent completely.
    """
    streams, is_revoked, checked_at = False, False, now()

    async def checked_send(message: Message) -> None:
        nonlocal streams, is_revoked, checked_at
        if is_revoked:
            return
        if message["type"] == "http.response.start":
            streams = all(name.lower() != b"content-length" for name, _ in message.get("headers", ()))
        elif streams and now() - checked_at >= seconds:
            checked_at = now()
            is_revoked = not _is_still_valid(is_valid)
        await send(message if not is_revoked else {"type": "http.response.body", "body": b"", "more_body": False})

    return checked_send


def _is_still_valid(is_valid: Callable[[], object]) -> bool:
    try:
        return bool(is_valid())
    except WorldError:
        return False


_MAX_ADDRESSES = 1024  # the one with the oldest failure is forgotten first


class AuthRateLimiter:
    """Counts failures by address. Valid credentials are never delayed."""

    def __init__(self, policy: RequestPolicy, now: Callable[[], float] = time.monotonic) -> None:
        self._limit, self._seconds = policy.max_auth_failures, policy.auth_failure_seconds
        self._now = now
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()

    def record_failure(self, scope: Scope) -> Rejection | None:
        """Count a failure; return the rejection if there were too many."""
        address, now = _get_client_address(scope), self._now()
        times = self._failures.setdefault(address, deque())
        self._failures.move_to_end(address)
        while len(self._failures) > _MAX_ADDRESSES:
            self._failures.popitem(last=False)
        while times and times[0] <= now - self._seconds:
            times.popleft()
        if len(times) < self._limit:
            times.append(now)
            return None
        return _make_rate_limit_rejection(times[0] + self._seconds - now)

    def __len__(self) -> int:
        return len(self._failures)


def _get_client_address(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def _make_rate_limit_rejection(seconds: float) -> Rejection:
    wait = max(1, math.ceil(seconds))
    return Rejection(
        429,
        "too many wrong tokens came from this address",
        hint=f"Wait {wait} s. A valid token is accepted at any time: plait token.",
        headers=((b"retry-after", str(wait).encode("ascii")),),
    )


LOGOUT_PATH = "/logout"
_NO_STORE = {"Cache-Control": "no-store"}
_NEW_LINK = "Get a new one on the server's machine"
_NEW_LINK_HINT = f"{_NEW_LINK}: plait token --link"
_ONLY_GET = Rejection(405, "login links accept GET only", headers=((b"allow", b"GET"),))
_ONLY_POST = Rejection(405, "logging out accepts POST only", headers=((b"allow", b"POST"),))
_ONLY_READ = Rejection(405, "this is read-only", headers=((b"allow", b"GET, HEAD"),))
_PREFETCHED = Rejection(403, "login links can't be prefetched", hint="Open it in a browser.")
_LINK_ERRORS = {
    InvalidCode.EXPIRED: Rejection(
        410, "This link has expired: links are valid for ten minutes.", hint=_NEW_LINK_HINT, unauthenticated=True
    ),
    InvalidCode.USED: Rejection(
        410, "This link was already used: links are valid once.", hint=_NEW_LINK_HINT, unauthenticated=True
    ),
    InvalidCode.UNKNOWN: Rejection(
        403, "This link is invalid, or the token was changed after it was created.", hint=_NEW_LINK_HINT
    ),
}


class LoginMiddleware:
    """Handles `GET /login?code=…`, which sets the cookie. The code is in no response and no Referer. The stylesheet of
    rejection pages needs no login.
    """

    def __init__(
        self, app: ASGIApp, authenticator: Authenticator, rate_limiter: AuthRateLimiter, policy: RequestPolicy
    ) -> None:
        self._app, self._authenticator = app, authenticator
        self._rate_limiter, self._policy = rate_limiter, policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if get_path(scope) not in {LOGIN_PATH, STYLESHEET_PATH}:
            await self._app(scope, receive, send)
            return
        if get_path(scope) == STYLESHEET_PATH:
            if scope["method"] not in SAFE_METHODS or has_body(scope):  # no body is read before authentication
                await reject(_ONLY_READ, scope, send)
            else:
                headers = {"Cache-Control": "no-cache", "Content-Length": str(len(STYLESHEET))}
                content = b"" if scope["method"] == "HEAD" else STYLESHEET
                stylesheet = Response(content, headers=headers, media_type="text/css")
                await stylesheet(scope, receive, send)
            return
        try:
            response = await self._handle_login(scope)
        except WorldError:
            response = TOKEN_UNREADABLE
        if isinstance(response, Rejection):
            await reject(response, scope, send)
        else:
            await response(scope, receive, send)

    async def _handle_login(self, scope: Scope) -> Response | Rejection:
        if scope["method"] != "GET":  # HEAD is used by link previews
            return _ONLY_GET
        if _is_prefetch(scope):
            return _PREFETCHED
        redeemed = await asyncio.to_thread(self._authenticator.redeem_code, _read_code(scope))
        redirect = RedirectResponse("/", 303, headers=_NO_STORE)
        if isinstance(redeemed, Access):
            cookie = self._authenticator.issue_cookie(redeemed)
            _set_cookie(redirect, cookie, COOKIE_SECONDS, secure=is_secure(scope, self._policy))
            return redirect
        if find_cookie_caller(scope, self._authenticator):  # the link was opened again in the same browser
            return redirect
        if redeemed is InvalidCode.UNKNOWN and (too_many := self._rate_limiter.record_failure(scope)):
            return too_many
        link_error = _LINK_ERRORS[redeemed]
        return replace(
            link_error, person=(link_error.error, f"{_NEW_LINK}: {format_link_command(scope, self._policy)}")
        )


class LogoutMiddleware:
    """Handles `POST /logout`, which deletes the cookie. Comes after authentication and `request_checks.check_csrf`."""

    def __init__(self, app: ASGIApp, policy: RequestPolicy) -> None:
        self._app, self._policy = app, policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if get_path(scope) != LOGOUT_PATH:
            await self._app(scope, receive, send)
        elif scope["method"] != "POST":
            await reject(_ONLY_POST, scope, send)
        else:
            response = Response(status_code=204, headers=_NO_STORE)
            _set_cookie(response, "", 0, secure=is_secure(scope, self._policy))
            await response(scope, receive, send)


def _read_code(scope: Scope) -> str:
    try:
        codes = parse_qs(scope["query_string"].decode("ascii"), max_num_fields=4).get("code", [])
    except ValueError:
        return ""
    return codes[0] if len(codes) == 1 else ""


def _is_prefetch(scope: Scope) -> bool:
    """Whether the browser prefetches, which it announces in one of these headers."""
    announced = [
        *get_headers(scope, b"sec-purpose"),
        *get_headers(scope, b"purpose"),
        *get_headers(scope, b"x-moz"),
    ]
    return any(b"prefetch" in header.lower() or b"prerender" in header.lower() for header in announced)


def _set_cookie(response: Response, value: str, seconds: int, *, secure: bool) -> None:
    response.set_cookie(SESSION_COOKIE, value, max_age=seconds, secure=secure, httponly=True, samesite="strict")
