"""Strangers: connections on which nobody was let in yet. Only so many of them stay."""

from __future__ import annotations

import asyncio
from typing import Protocol

MAX_UNAUTHENTICATED = 64
AUTHENTICATION_SECONDS = 2.0  # seconds in which whoever has a token has shown it
HARD_LIMIT = 1024


class UnauthenticatedConnection(Protocol):
    def is_responding(self) -> bool:
        """Whether a request of theirs is being answered: that shows in a moment who they are."""

    def disconnect(self) -> None: ...


class UnauthenticatedConnections:
    """`most` stay. Everybody has a moment to show a token: when a server is back, all its clients come at once. Then the
    oldest makes room, and in a crowd at once.
    """

    def __init__(
        self,
        limit: int = MAX_UNAUTHENTICATED,
        grace_seconds: float = AUTHENTICATION_SECONDS,
        hard_limit: int = HARD_LIMIT,
    ) -> None:
        self._limit, self._grace_seconds, self._hard_limit = limit, grace_seconds, hard_limit
        self._since: dict[UnauthenticatedConnection, float] = {}  # the oldest first
        self._timer: asyncio.TimerHandle | None = None

    def add(self, connection: UnauthenticatedConnection, loop: asyncio.AbstractEventLoop) -> None:
        self._since[connection] = loop.time()
        while len(self._since) > self._hard_limit:
            self._close(next(iter(self._since)))
        self._close_oldest(loop)

    def remove(self, connection: UnauthenticatedConnection) -> None:
        """They left, or are none any more."""
        self._since.pop(connection, None)

    def _close_oldest(self, loop: asyncio.AbstractEventLoop) -> None:
        over = len(self._since) - self._limit
        if over <= 0 or self._timer is not None:
            return
        late = loop.time() - self._grace_seconds
        old = [who for who, since in self._since.items() if since <= late]
        for who in [who for who in old if not who.is_responding()][:over]:
            self._close(who)
        if len(self._since) > self._limit:
            self._timer = loop.call_later(self._grace_seconds / 4, self._on_timer, loop)

    def _on_timer(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        self._close_oldest(loop)

    def _close(self, connection: UnauthenticatedConnection) -> None:
        self.remove(connection)
        connection.disconnect()
