"""Who asks: told by a token, or by the cookie of a login. Nobody gets further without being told."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from starlette.types import ASGIApp, Receive, Scope, Send

from plait.core.errors import WorldError
from plait.server.guard.hosts import came_to
from plait.server.guard.origins import SAFE
from plait.server.guard.refusal import Refusal, fields, has_body, path, refuse
from plait.server.guard.rules import Rules
from plait.server.guard.streams import while_good
from plait.server.guard.strikes import Strikes
from plait.server.keys import COOKIE, Access, Caller, Keys

HEALTH = "/health"
MCP = "/mcp"
DEFAULT = "http://127.0.0.1:3001"
_MOST_COOKIES = 8
_ASKS = ((b"www-authenticate", b"Bearer"),)
_NOBODY = Refusal(
    401,
    "this needs a token",
    hint="Programs send Authorization: Bearer, with what `plait token` prints. A browser is let in by the link that "
    "`plait token --link` prints.",
    headers=_ASKS,
    unknown=True,
)
_WRONG = Refusal(401, "this is not the token", hint="The one that holds: plait token.", headers=_ASKS)
_LOOKS = Refusal(
    403, "this token lets you look, and change nothing", hint="What may change things: plait token."
)
UNREADABLE = Refusal(
    503, "the server can't read its token, so nobody is let in", hint="On the server's machine: plait token."
)

Asked = Callable[[], Caller | None]


class Callers:
    """Puts the Caller into `scope["state"]["caller"]`. Only whether the server lives may be asked by everybody."""

    def __init__(
        self,
        app: ASGIApp,
        keys: Keys,
        strikes: Strikes,
        rules: Rules,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app, self._keys, self._strikes, self._rules, self._now = app, keys, strikes, rules, now

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _asks_health(scope):
            await self._app(scope, receive, send)
            return
        asked = _presented(scope, self._keys)
        try:
            found = self._found(scope, asked)
        except WorldError:
            found = UNREADABLE
        if isinstance(found, Refusal):
            await refuse(found, scope, send)
            return
        welcome(scope, found)
        good = while_good(send, asked, self._rules.look_again, self._now)
        await self._app(scope, receive, good)

    def _found(self, scope: Scope, asked: Asked) -> Caller | Refusal:
        caller = asked()
        if caller is not None:
            return caller
        if not fields(scope, b"authorization"):  # a stale cookie is no guess: browsers send it by themselves
            return replace(_NOBODY, person=not_logged_in(scope, self._rules))
        return self._strikes.strike(scope) or _WRONG


class ReadOnly:
    """Who may only look asks with GET and HEAD; of MCP, which knows no other way, only for tools that change nothing, and
    that is seen to there. Stands behind who tells the caller.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        caller: Caller | None = scope.get("state", {}).get("caller")
        reads = caller is not None and caller.access is Access.READ
        if reads and scope["method"] not in SAFE and path(scope) != MCP:
            await refuse(_LOOKS, scope, send)
        else:
            await self._app(scope, receive, send)


def not_logged_in(scope: Scope, rules: Rules) -> tuple[str, str]:
    return (
        "this browser is not logged in",
        f"Run this where plait runs, and open the link that it prints: {link_command(scope, rules)}",
    )


def link_command(scope: Scope, rules: Rules) -> str:
    """The one that makes a link to where the person is."""
    place = came_to(scope)
    here = DEFAULT if place is None else place.url("https" if secure(scope, rules) else "http")
    return f"`plait token --link{'' if here == DEFAULT else f' --url {here}'}`"


def secure(scope: Scope, rules: Rules) -> bool:
    """Here, or at somebody before us who speaks TLS for us."""
    place = came_to(scope)
    return scope["scheme"] == "https" or (place is not None and place.url("https") in rules.origins)


def _asks_health(scope: Scope) -> bool:
    """And sends nothing along: of strangers nothing is read."""
    return path(scope) == HEALTH and scope["method"] in SAFE and not has_body(scope)


def welcome(scope: Scope, caller: Caller) -> None:
    state = scope.setdefault("state", {})
    state["caller"] = caller
    if connection := state.get("connection"):  # see protocol: it is not closed to make room
        connection.welcome()


def logged_in(scope: Scope, keys: Keys) -> Caller | None:
    """By any of the cookies of that name: another server of this host may have set one."""
    pairs = (
        pair.strip().partition("=")
        for line in fields(scope, b"cookie")
        for pair in line.decode("latin-1").split(";")
    )
    said = [value.strip('"') for name, _, value in pairs if name == COOKIE]
    return next(filter(None, map(keys.by_cookie, said[:_MOST_COOKIES])), None)


def _presented(scope: Scope, keys: Keys) -> Asked:
    """What was brought along, to be asked again: it may be good now and not later. A token goes before a cookie."""
    said = fields(scope, b"authorization")
    if not said:
        return lambda: logged_in(scope, keys)
    kind, _, token = said[0].partition(b" ")
    sound = len(said) == 1 and kind.lower() == b"bearer"
    return lambda: keys.by_token(token.strip()) if sound else None
