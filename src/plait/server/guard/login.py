"""A browser is logged in by a link that is good once, and logged out again."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import assert_never
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Receive, Scope, Send

from plait.core.errors import WorldError
from plait.server.guard.callers import UNREADABLE, link_command, logged_in, secure
from plait.server.guard.origins import SAFE
from plait.server.guard.refusal import Headers, Refusal, fields, has_body, path, refuse
from plait.server.guard.refusal_page import CSS, STYLE
from plait.server.guard.rules import Rules
from plait.server.guard.strikes import Strikes
from plait.server.keys import COOKIE, COOKIE_SECONDS, LOGIN, Access, Code, Keys

LOGOUT = "/logout"
_GET_ANOTHER = "Get another one, where plait runs"
_ANOTHER = f"{_GET_ANOTHER}: plait token --link"
_ONLY_GET = Refusal(405, "a link is opened, and nothing else", headers=((b"allow", b"GET"),))
_ONLY_POST = Refusal(405, "logging out is a POST", headers=((b"allow", b"POST"),))
_ONLY_LOOK = Refusal(405, "this can be looked at, and nothing else", headers=((b"allow", b"GET, HEAD"),))
_AHEAD = Refusal(403, "this link is good once, and not used up ahead of time", hint="Open it.")
_EXPIRED = Refusal(
    410, "This link is no longer good: links are good for ten minutes.", hint=_ANOTHER, unknown=True
)
_USED = Refusal(410, "This link was used already: links are good once.", hint=_ANOTHER, unknown=True)
_UNKNOWN = Refusal(403, "This link is not good, or the token was changed after it was made.", hint=_ANOTHER)
_BAD = (_EXPIRED, _USED, _UNKNOWN)


class Login:
    """`GET /login?code=…` gives the cookie. The code is in no response and no Referer. The stylesheet of refusals is for
    everybody: it is the same for all, and tells nothing.
    """

    def __init__(self, app: ASGIApp, keys: Keys, strikes: Strikes, rules: Rules) -> None:
        self._app, self._keys, self._strikes, self._rules = app, keys, strikes, rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or path(scope) not in {LOGIN, STYLE}:
            await self._app(scope, receive, send)
            return
        if path(scope) == STYLE:
            await _style(scope, send)
            return
        try:
            answer = await self._answer(scope)
        except WorldError:
            answer = UNREADABLE
        if isinstance(answer, Refusal):
            person = (
                (answer.error, f"{_GET_ANOTHER}: {link_command(scope, self._rules)}")
                if answer in _BAD
                else None
            )
            await refuse(replace(answer, person=person), scope, send)
        else:
            await _empty(303, [(b"location", b"/"), *answer], send)

    async def _answer(self, scope: Scope) -> Headers | Refusal:
        if scope["method"] != "GET":  # HEAD is what looks at links
            return _ONLY_GET
        if _prefetch(scope):
            return _AHEAD
        came = await asyncio.to_thread(self._keys.redeem, _code(scope))  # it waits for the disk
        if isinstance(came, Access):
            return [_cookie(self._keys.cookie(came), COOKIE_SECONDS, secure=secure(scope, self._rules))]
        if logged_in(scope, self._keys):  # the link again, in the browser that it let in
            return []
        match came:
            case Code.EXPIRED:
                return _EXPIRED
            case Code.USED:
                return _USED
            case Code.UNKNOWN:
                return self._strikes.strike(scope) or _UNKNOWN
            case _:
                assert_never(came)


class Logout:
    """`POST /logout` takes the cookie back. Stands behind who tells the caller and the page."""

    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._app, self._rules = app, rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or path(scope) != LOGOUT:
            await self._app(scope, receive, send)
        elif scope["method"] != "POST":
            await refuse(_ONLY_POST, scope, send)
        else:
            await _empty(204, [_cookie("", 0, secure=secure(scope, self._rules))], send)


async def _style(scope: Scope, send: Send) -> None:
    if scope["method"] not in SAFE or has_body(scope):  # of strangers nothing is read
        await refuse(_ONLY_LOOK, scope, send)
        return
    headers = [
        (b"content-type", b"text/css; charset=utf-8"),
        (b"content-length", str(len(CSS)).encode("ascii")),
        (b"cache-control", b"no-cache"),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else CSS})


def _code(scope: Scope) -> str:
    try:
        found = parse_qs(scope["query_string"].decode("ascii"), max_num_fields=4).get("code", [])
    except ValueError:
        return ""
    return found[0] if len(found) == 1 else ""


def _prefetch(scope: Scope) -> bool:
    """A browser that fetches ahead of time, or some time, says so in one of these ways."""
    said = [*fields(scope, b"sec-purpose"), *fields(scope, b"purpose"), *fields(scope, b"x-moz")]
    return any(b"prefetch" in each.lower() or b"prerender" in each.lower() for each in said)


def _cookie(value: str, seconds: int, *, secure: bool) -> tuple[bytes, bytes]:
    said = f"{COOKIE}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Strict"
    return b"set-cookie", f"{said}; Secure".encode("ascii") if secure else said.encode("ascii")


async def _empty(status: int, headers: Headers, send: Send) -> None:
    length = [] if status == 204 else [(b"content-length", b"0")]
    start = [*headers, *length, (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": status, "headers": start})
    await send({"type": "http.response.body", "body": b""})
