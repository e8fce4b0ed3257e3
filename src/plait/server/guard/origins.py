"""Requests of the server's own pages, or of no page at all: what other pages make a browser send is not the person's wish.

There are no CORS headers, here or elsewhere, so another origin's preflight is refused like everything else of it.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from plait.server.guard.hosts import came_to
from plait.server.guard.refusal import Refusal, field, fields, refuse
from plait.server.guard.rules import Rules
from plait.server.keys import By, Caller

SAFE = frozenset({"GET", "HEAD"})
_FOREIGN = Refusal(
    403, "this request comes from a page of another origin", hint="Only the server's own pages may ask."
)
_UNSAID = Refusal(
    403,
    "this request does not say which page it comes from",
    hint="A browser says so by itself (Origin). Programs send the token: Authorization: Bearer.",
)


class OwnOrigin:
    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _own(scope, self._rules):
            await self._app(scope, receive, send)
        else:
            await refuse(_FOREIGN, scope, send)


class OwnPages:
    """A browser sends the cookie by itself, whoever makes it ask: then it has to be seen that our own page did. Stands
    behind who tells the caller.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = _driven(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self._app(scope, receive, send)
        else:
            await refuse(refusal, scope, send)


def _own(scope: Scope, rules: Rules) -> bool:
    """`Origin: null` is a page that hides where it comes from, and never ours."""
    said, place = fields(scope, b"origin"), came_to(scope)
    if not said:
        return True
    origin = said[0].decode("latin-1")
    return (
        len(said) == 1
        and place is not None
        and (origin == place.url(scope["scheme"]) or origin in rules.origins)
    )


def _driven(scope: Scope) -> Refusal | None:
    caller: Caller | None = scope.get("state", {}).get("caller")
    if caller is None or caller.by is not By.COOKIE:
        return None
    site = field(scope, b"sec-fetch-site")
    if scope["method"] not in SAFE:
        return None if field(scope, b"origin") or site == b"same-origin" else _UNSAID
    # Another port of the same name is the same site, and its pages' requests carry the cookie.
    return _FOREIGN if site in {b"same-site", b"cross-site"} and not _opened(scope) else None


def _opened(scope: Scope) -> bool:
    """A person follows a link to a page: nobody else sees what it shows."""
    return field(scope, b"sec-fetch-mode") == b"navigate" and field(scope, b"sec-fetch-dest") == b"document"
