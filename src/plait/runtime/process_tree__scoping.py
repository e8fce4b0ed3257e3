"""Scoping: the tree of an attempt that lasts is moved into a scope of its own.

Moving a process waits for all processors of the machine to agree, which a short attempt would feel.
"""

from __future__ import annotations

import time
from contextlib import suppress

from plait.runtime import cgroup
from plait.runtime.process_tree import LiveAttempt, ProcessTable
from plait.store.interfaces import Reactor, Timer

MIN_AGE_SECONDS = 1.0  # seconds that an attempt runs before it gets a scope
_MAX_MOVE_ROUNDS = 5  # of moving what was forked meanwhile


class CgroupMover:
    def __init__(self, reactor: Reactor, table: ProcessTable) -> None:
        self._reactor = reactor
        self._table = table
        self._timer: Timer | None = None

    def schedule(self) -> None:
        """An attempt runs that has no scope yet."""
        if self._timer is None and cgroup.parent_cgroup():
            self._timer = self._reactor.call_later(MIN_AGE_SECONDS, self._look)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        self._timer = None
        waiting = [
            live for live in self._table.live.values() if not live.cgroup_checked and live.result is None
        ]
        now = time.monotonic()
        ripe = [live for live in waiting if now - live.since >= MIN_AGE_SECONDS / 2]
        with suppress(OSError):  # without a scope, a tree is found by what else tells
            self._move_all([live for live in ripe if _make_attempt_cgroup(live)])
        if len(waiting) > len(ripe):
            self.schedule()

    def _move_all(self, ripe: list[LiveAttempt]) -> None:
        for _ in range(_MAX_MOVE_ROUNDS if ripe else 0):
            trees = self._table.find_trees()
            outside = 0
            for live in ripe:
                inside = {live.pid, *cgroup.list_members(live.root.cgroup)}
                pids = [each.pid for each in trees[live.root.tag] if each.pid not in inside]
                cgroup.add_processes(live.root.cgroup, pids)
                outside += len(pids)
            if not outside:
                return


def _make_attempt_cgroup(live: LiveAttempt) -> bool:
    live.cgroup_checked = True
    path = cgroup.make_cgroup(live.root.tag)
    if path:
        cgroup.write_cgroup_path(live.folder.path, path)
        live.root.cgroup = path
    return path != ""
