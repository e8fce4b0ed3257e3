"""Who asks: told by a token, or by the cookie of a login. Nobody gets further without being told.

A stream ends with the key that opened it: who listens must not go on listening after a rotation.

How often each address was wrong of late. Whoever is right is never counted, and never kept waiting.
"""

from __future__ import annotations

import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import replace

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from plait.core.errors import WorldError
from plait.server.auth import SESSION_COOKIE, Access, Authenticator, Caller
from plait.server.http.middleware.origin_checks import SAFE_METHODS, get_request_host
from plait.server.http.middleware.policy import RequestPolicy
from plait.server.http.middleware.rejections import Rejection, get_headers, get_path, has_body, reject

HEALTH_PATH = "/health"


MCP_PATH = "/mcp"


DEFAULT_URL = "http://127.0.0.1:3001"


_MAX_COOKIES = 8


_BEARER_CHALLENGE = ((b"www-authenticate", b"Bearer"),)


_MISSING_TOKEN = Rejection(
    401,
    "this needs a token",
    hint="Programs send Authorization: Bearer, with what `plait token` prints. A browser is let in by the link that "
    "`plait token --link` prints.",
    headers=_BEARER_CHALLENGE,
    unauthenticated=True,
)


_WRONG_TOKEN = Rejection(
    401, "this is not the token", hint="The one that holds: plait token.", headers=_BEARER_CHALLENGE
)


_READ_ONLY_TOKEN = Rejection(
    403, "this token lets you look, and change nothing", hint="What may change things: plait token."
)


TOKEN_UNREADABLE = Rejection(
    503, "the server can't read its token, so nobody is let in", hint="On the server's machine: plait token."
)


CallerCheck = Callable[[], Caller | None]


class AuthenticationMiddleware:
    """Puts the Caller into `scope["state"]["caller"]`. Only whether the server lives may be asked by everybody."""

    def __init__(
        self,
        app: ASGIApp,
        authenticator: Authenticator,
        rate_limiter: AuthRateLimiter,
        policy: RequestPolicy,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app, self._authenticator, self._rate_limiter, self._policy, self._now = (
            app,
            authenticator,
            rate_limiter,
            policy,
            now,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _is_health_check(scope):
            await self._app(scope, receive, send)
            return
        check = _make_caller_check(scope, self._authenticator)
        try:
            found = self._authenticate(scope, check)
        except WorldError:
            found = TOKEN_UNREADABLE
        if isinstance(found, Rejection):
            await reject(found, scope, send)
            return
        set_caller(scope, found)
        checked_send = end_when_revoked(send, check, self._policy.recheck_seconds, self._now)
        await self._app(scope, receive, checked_send)

    def _authenticate(self, scope: Scope, check: CallerCheck) -> Caller | Rejection:
        caller = check()
        if caller is not None:
            return caller
        if not get_headers(scope, b"authorization"):  # a stale cookie is no guess: browsers send it by themselves
            return replace(_MISSING_TOKEN, person=describe_missing_login(scope, self._policy))
        return self._rate_limiter.record_failure(scope) or _WRONG_TOKEN


class ReadOnlyMiddleware:
    """Who may only look asks with GET and HEAD; of MCP, which knows no other way, only for tools that change nothing, and
    that is seen to there. Stands behind who tells the caller.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller: Caller | None = scope.get("state", {}).get("caller")
        reads = caller is not None and caller.access is Access.READ
        if reads and scope["method"] not in SAFE_METHODS and get_path(scope) != MCP_PATH:
            await reject(_READ_ONLY_TOKEN, scope, send)
        else:
            await self._app(scope, receive, send)


def describe_missing_login(scope: Scope, policy: RequestPolicy) -> tuple[str, str]:
    return (
        "this browser is not logged in",
        f"Run this where plait runs, and open the link that it prints: {format_link_command(scope, policy)}",
    )


def format_link_command(scope: Scope, policy: RequestPolicy) -> str:
    """The one that makes a link to where the person is."""
    place = get_request_host(scope)
    here = DEFAULT_URL if place is None else place.to_origin("https" if is_secure(scope, policy) else "http")
    return f"`plait token --link{'' if here == DEFAULT_URL else f' --url {here}'}`"


def is_secure(scope: Scope, policy: RequestPolicy) -> bool:
    """Here, or at somebody before us who speaks TLS for us."""
    place = get_request_host(scope)
    return scope["scheme"] == "https" or (place is not None and place.to_origin("https") in policy.origins)


def _is_health_check(scope: Scope) -> bool:
    """And sends nothing along: of strangers nothing is read."""
    return get_path(scope) == HEALTH_PATH and scope["method"] in SAFE_METHODS and not has_body(scope)


def set_caller(scope: Scope, caller: Caller) -> None:
    state = scope.setdefault("state", {})
    state["caller"] = caller
    if connection := state.get("connection"):  # see protocol: it is not closed to make room
        connection.mark_authenticated()


def find_cookie_caller(scope: Scope, authenticator: Authenticator) -> Caller | None:
    """By any of the cookies of that name: another server of this host may have set one."""
    pairs = (
        pair.strip().partition("=")
        for line in get_headers(scope, b"cookie")
        for pair in line.decode("latin-1").split(";")
    )
    values = [value.strip('"') for name, _, value in pairs if name == SESSION_COOKIE]
    return next(filter(None, map(authenticator.check_cookie, values[:_MAX_COOKIES])), None)


def _make_caller_check(scope: Scope, authenticator: Authenticator) -> CallerCheck:
    """What was brought along, to be asked again: it may be good now and not later. A token goes before a cookie."""
    headers = get_headers(scope, b"authorization")
    if not headers:
        return lambda: find_cookie_caller(scope, authenticator)
    kind, _, token = headers[0].partition(b" ")
    is_bearer = len(headers) == 1 and kind.lower() == b"bearer"
    return lambda: authenticator.check_token(token.strip()) if is_bearer else None


def end_when_revoked(send: Send, is_valid: Callable[[], object], seconds: float, now: Callable[[], float]) -> Send:
    """`send`, until what was presented is good no more. The response ends then as if it were complete, so that the app
    hears of a disconnect and the client comes back, to be asked again. One of a known length is always sent whole.
    """
    streams, over, looked = False, False, now()

    async def guarded(message: Message) -> None:
        nonlocal streams, over, looked
        if over:
            return
        if message["type"] == "http.response.start":
            streams = all(name.lower() != b"content-length" for name, _ in message.get("headers", ()))
        elif streams and now() - looked >= seconds:
            looked = now()
            over = not _is_still_valid(is_valid)
        await send(message if not over else {"type": "http.response.body", "body": b"", "more_body": False})

    return guarded


def _is_still_valid(is_valid: Callable[[], object]) -> bool:
    try:
        return bool(is_valid())
    except WorldError:
        return False


_MAX_ADDRESSES = 1024  # remembered at once; the one that was wrong longest ago is forgotten first


class AuthRateLimiter:
    def __init__(self, policy: RequestPolicy, now: Callable[[], float] = time.monotonic) -> None:
        self._limit, self._seconds = policy.max_auth_failures, policy.auth_failure_seconds
        self._now = now
        self._failures: OrderedDict[str, deque[float]] = OrderedDict()

    def record_failure(self, scope: Scope) -> Rejection | None:
        """Somebody was wrong. Too often by now: how long they have to leave it."""
        address, now = _client_address(scope), self._now()
        times = self._failures.setdefault(address, deque())
        self._failures.move_to_end(address)
        while len(self._failures) > _MAX_ADDRESSES:
            self._failures.popitem(last=False)
        while times and times[0] <= now - self._seconds:
            times.popleft()
        if len(times) < self._limit:
            times.append(now)
            return None
        return _too_many_failures(times[0] + self._seconds - now)

    def __len__(self) -> int:
        return len(self._failures)


def _client_address(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def _too_many_failures(seconds: float) -> Rejection:
    wait = max(1, math.ceil(seconds))
    return Rejection(
        429,
        "too many wrong tokens came from this address",
        hint=f"Wait {wait} s. The right one is let in at any time: plait token.",
        headers=((b"retry-after", str(wait).encode("ascii")),),
    )
