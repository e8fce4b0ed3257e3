"""Strangers: connections on which nobody was let in yet. Only so many of them stay."""

from __future__ import annotations

import asyncio
from typing import Protocol

STRANGERS = 64
MOMENT = 2.0  # seconds in which whoever has a token has shown it
CROWD = 1024


class Stranger(Protocol):
    def answered(self) -> bool:
        """Whether a request of theirs is being answered: that shows in a moment who they are."""

    def leave(self) -> None: ...


class Strangers:
    """`most` stay. Everybody has a moment to show a token: when a server is back, all its clients come at once. Then the
    oldest makes room, and in a crowd at once.
    """

    def __init__(self, most: int = STRANGERS, moment: float = MOMENT, crowd: int = CROWD) -> None:
        self._most, self._moment, self._crowd = most, moment, crowd
        self._since: dict[Stranger, float] = {}  # the oldest first
        self._timer: asyncio.TimerHandle | None = None

    def come(self, who: Stranger, loop: asyncio.AbstractEventLoop) -> None:
        self._since[who] = loop.time()
        while len(self._since) > self._crowd:
            self._part(next(iter(self._since)))
        self._thin(loop)

    def gone(self, who: Stranger) -> None:
        """They left, or are none any more."""
        self._since.pop(who, None)

    def _thin(self, loop: asyncio.AbstractEventLoop) -> None:
        over = len(self._since) - self._most
        if over <= 0 or self._timer is not None:
            return
        late = loop.time() - self._moment
        old = [who for who, since in self._since.items() if since <= late]
        for who in [who for who in old if not who.answered()][:over]:
            self._part(who)
        if len(self._since) > self._most:
            self._timer = loop.call_later(self._moment / 4, self._again, loop)

    def _again(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        self._thin(loop)

    def _part(self, who: Stranger) -> None:
        self.gone(who)
        who.leave()
