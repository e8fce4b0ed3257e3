"""Requests that were meant for this server: a name that an attacker makes point here (DNS rebinding) is not one of its own.

The port is not looked at: whoever reaches the server through a tunnel names the tunnel's, and no name is safer by its port.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from plait.server.guard.refusal import Refusal, field, refuse
from plait.server.guard.rules import HostPort, Rules, host_port, is_address

_STRANGE = Refusal(
    421,
    "this server is not known by that name",
    hint="Ask for it as 127.0.0.1 or localhost, or start it with --allow-host NAME.",
    close=True,
)


class KnownHosts:
    def __init__(self, app: ASGIApp, rules: Rules) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or _known(came_to(scope), self._rules):
            await self._app(scope, receive, send)
        else:
            await refuse(_STRANGE, scope, send)


def came_to(scope: Scope) -> HostPort | None:
    """None where there is no Host, more than one, or none that could be one."""
    return host_port((field(scope, b"host") or b"").decode("latin-1"))


def _known(place: HostPort | None, rules: Rules) -> bool:
    return place is not None and (place.host in rules.hosts or (rules.addresses and is_address(place.host)))
