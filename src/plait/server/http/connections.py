"""Limits on slow and unauthenticated connections.

uvicorn's own limit counts all connections, so that event streams could lock the user out.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

from plait.client.json_encoding import encode_json
from plait.server.http.middleware.security_headers import SECURITY_HEADERS
from plait.server.http.responses import make_error

HEADER_SECONDS = 10.0
MAX_UNAUTHENTICATED = 64
AUTHENTICATION_SECONDS = 2.0  # in which a client has sent its token
HARD_LIMIT = 1024


class BoundedProtocol(H11Protocol):
    """A connection with limits. `create_protocol` makes a class for every server, with the server's counts."""

    header_seconds = HEADER_SECONDS
    unauthenticated: UnauthenticatedConnections

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],  # as in uvicorn: the state that the app's startup returned
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, {**app_state, "connection": self}, _loop)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's
        super().connection_made(transport)
        self._start_deadline()
        self.unauthenticated.add(self, self.loop)

    def connection_lost(self, exc: Exception | None) -> None:
        self.mark_authenticated()
        self._cancel_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self.is_responding():
            self._start_deadline()  # the head is not complete yet

    def handle_events(self) -> None:
        super().handle_events()
        if self.is_responding():
            self._cancel_deadline()

    def mark_authenticated(self) -> None:
        """Note that a request on this connection was authenticated."""
        self.unauthenticated.remove(self)

    def disconnect(self) -> None:
        self.mark_authenticated()
        self.transport.abort()

    def is_responding(self) -> bool:
        """Whether a request is being answered, which may authenticate the connection."""
        cycle: RequestResponseCycle | None = getattr(self, "cycle", None)  # uvicorn has none before the first request
        return cycle is not None and not cycle.response_complete

    def _start_deadline(self) -> None:
        """Start the deadline for a head; more bytes don't extend it."""
        if self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(self.header_seconds, self.disconnect)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def send_400_response(self, msg: str) -> None:
        """Respond in the format of all errors, unless a response is being sent."""
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            self.transport.write(b"".join(self.conn.send(event) or b"" for event in _make_bad_request(msg)))
        self.transport.close()


def create_protocol(
    header_seconds: float = HEADER_SECONDS, unauthenticated: UnauthenticatedConnections | None = None
) -> type[BoundedProtocol]:
    """Make the class for `uvicorn.Config(http=…)`, which limits heads' duration and unauthenticated connections."""
    attributes = {"header_seconds": header_seconds, "unauthenticated": unauthenticated or UnauthenticatedConnections()}
    return type("Protocol", (BoundedProtocol,), attributes)


def _make_bad_request(message: str) -> list[h11.Response | h11.Data | h11.EndOfMessage]:
    body = encode_json(make_error(message))
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode("ascii")),
        (b"connection", b"close"),
        (b"cache-control", b"no-store"),
        *SECURITY_HEADERS,
    ]
    response = h11.Response(status_code=400, headers=headers, reason=b"Bad Request")
    return [response, h11.Data(data=body), h11.EndOfMessage()]


class UnauthenticatedConnections:
    """The unauthenticated connections, of which up to `limit` stay. Above it, the oldest are closed after
    `grace_seconds`: when a server restarts, all clients connect at once. Above `hard_limit`, they are closed
    immediately.
    """

    def __init__(
        self,
        limit: int = MAX_UNAUTHENTICATED,
        grace_seconds: float = AUTHENTICATION_SECONDS,
        hard_limit: int = HARD_LIMIT,
    ) -> None:
        self._limit, self._grace_seconds, self._hard_limit = limit, grace_seconds, hard_limit
        self._since: dict[BoundedProtocol, float] = {}  # the oldest first
        self._timer: asyncio.TimerHandle | None = None

    def add(self, connection: BoundedProtocol, loop: asyncio.AbstractEventLoop) -> None:
        self._since[connection] = loop.time()
        while len(self._since) > self._hard_limit:
            self._close(next(iter(self._since)))
        self._close_oldest(loop)

    def remove(self, connection: BoundedProtocol) -> None:
        """Remove a connection that was closed or authenticated."""
        self._since.pop(connection, None)

    def _close_oldest(self, loop: asyncio.AbstractEventLoop) -> None:
        excess = len(self._since) - self._limit
        if excess <= 0 or self._timer is not None:
            return
        deadline = loop.time() - self._grace_seconds
        old = [connection for connection, since in self._since.items() if since <= deadline]
        for connection in [connection for connection in old if not connection.is_responding()][:excess]:
            self._close(connection)
        if len(self._since) > self._limit:
            self._timer = loop.call_later(self._grace_seconds / 4, self._on_timer, loop)

    def _on_timer(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        self._close_oldest(loop)

    def _close(self, connection: BoundedProtocol) -> None:
        self.remove(connection)
        connection.disconnect()
