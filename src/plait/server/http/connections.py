"""Connections: who says nothing, or says it slowly, does not stay.

uvicorn's own bound on connections counts everybody, so that those who listen to events would shut the person out. Here only
strangers are bounded.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

from plait.server.http.connections__strangers import UnauthenticatedConnections
from plait.server.http.middleware.security_headers import SECURITY_HEADERS

HEADER_SECONDS = 10.0


class BoundedProtocol(H11Protocol):
    """A class of its own for every server, by `guarded_protocol`: what it counts is the server's."""

    head_seconds = HEADER_SECONDS
    strangers: UnauthenticatedConnections

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],  # as uvicorn has it: what the app's start put there
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, {**app_state, "connection": self}, _loop)
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's
        super().connection_made(transport)
        self._start_deadline()
        self.strangers.add(self, self.loop)

    def connection_lost(self, exc: Exception | None) -> None:
        self.welcome()
        self._cancel_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self.is_responding():
            self._start_deadline()  # it was no whole head

    def handle_events(self) -> None:
        super().handle_events()
        if self.is_responding():
            self._cancel_deadline()

    def welcome(self) -> None:
        """Somebody was let in on this connection."""
        self.strangers.remove(self)

    def disconnect(self) -> None:
        self.welcome()
        self.transport.abort()

    def is_responding(self) -> bool:
        cycle: RequestResponseCycle | None = getattr(
            self, "cycle", None
        )  # uvicorn has none before the first request
        return cycle is not None and not cycle.response_complete

    def _start_deadline(self) -> None:
        """The deadline is not put off by another byte."""
        if self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(self.head_seconds, self.disconnect)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def send_400_response(self, msg: str) -> None:
        """In the shape of all errors. In the midst of an answer there is nothing left to say."""
        if self.conn.our_state in {h11.IDLE, h11.SEND_RESPONSE}:
            self.transport.write(b"".join(map(self._encode, _bad_request_events(msg))))
        self.transport.close()

    def _encode(self, event: h11.Response | h11.Data | h11.EndOfMessage) -> bytes:
        return self.conn.send(event) or b""


def create_protocol(
    header_seconds: float = HEADER_SECONDS, unauthenticated: UnauthenticatedConnections | None = None
) -> type[BoundedProtocol]:
    """For `uvicorn.Config(http=…)`: a head is whole within so many seconds, and only so many strangers stay."""
    own = {"head_seconds": header_seconds, "strangers": unauthenticated or UnauthenticatedConnections()}
    return type("Protocol", (BoundedProtocol,), own)


def _bad_request_events(why: str) -> list[h11.Response | h11.Data | h11.EndOfMessage]:
    said = {"error": why, "hint": None, "field": None, "state": None, "problems": None}
    body = json.dumps(said).encode("ascii")
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode("ascii")),
        (b"connection", b"close"),
        (b"cache-control", b"no-store"),
        *SECURITY_HEADERS,
    ]
    response = h11.Response(status_code=400, headers=headers, reason=b"Bad Request")
    return [response, h11.Data(data=body), h11.EndOfMessage()]
