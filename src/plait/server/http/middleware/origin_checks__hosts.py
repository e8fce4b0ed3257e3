"""Requests that were meant for this server: a name that an attacker makes point here (DNS rebinding) is not one of its own.

The port is not looked at: whoever reaches the server through a tunnel names the tunnel's, and no name is safer by its port.
"""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from plait.server.http.middleware.policy import HostPort, RequestPolicy, is_ip_address, parse_host_port
from plait.server.http.middleware.rejections import Rejection, get_header, reject

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
    return host is not None and (
        host.host in policy.hosts or (policy.allow_any_ip and is_ip_address(host.host))
    )
