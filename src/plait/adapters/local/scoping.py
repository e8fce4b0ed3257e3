"""Scoping: the tree of an attempt that lasts is moved into a scope of its own.

Moving a process waits for all processors of the machine to agree, which a short attempt would feel.
"""

from __future__ import annotations

import time
from contextlib import suppress

from plait.adapters.local.census import Census, Live
from plait.ports import Reactor, Timer
from plait.site import scope

AGE = 1.0  # seconds that an attempt runs before it gets a scope
_ROUNDS = 5  # of moving what was forked meanwhile


class Scoping:
    def __init__(self, reactor: Reactor, census: Census) -> None:
        self._reactor = reactor
        self._census = census
        self._timer: Timer | None = None

    def expect(self) -> None:
        """An attempt runs that has no scope yet."""
        if self._timer is None and scope.home():
            self._timer = self._reactor.after(AGE, self._look)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        self._timer = None
        waiting = [live for live in self._census.live.values() if not live.scoped and live.found is None]
        now = time.monotonic()
        ripe = [live for live in waiting if now - live.since >= AGE / 2]
        with suppress(OSError):  # without a scope, a tree is found by what else tells
            self._enclose([live for live in ripe if _has_scope(live)])
        if len(waiting) > len(ripe):
            self.expect()

    def _enclose(self, ripe: list[Live]) -> None:
        for _ in range(_ROUNDS if ripe else 0):
            trees = self._census.trees()
            outside = 0
            for live in ripe:
                inside = {live.pid, *scope.members(live.root.scope)}
                pids = [each.pid for each in trees[live.root.marker] if each.pid not in inside]
                scope.join(live.root.scope, pids)
                outside += len(pids)
            if not outside:
                return


def _has_scope(live: Live) -> bool:
    live.scoped = True
    path = scope.make(live.root.marker)
    if path:
        scope.remember(live.folder.path, path)
        live.root.scope = path
    return path != ""
