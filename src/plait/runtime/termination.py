"""Ending trees of processes: asked, then told, then killed, until nothing of them is left.

All that are ending at a time share one pass over the machine's processes. A warden is spared, so that it can leave the
exit status of what was ended; if it does not, it is killed too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from enum import IntEnum
from signal import SIGCONT, SIGINT, SIGKILL, SIGSTOP, SIGTERM, Signals

from plait.core.fast_dataclass import dataclass
from plait.runtime import cgroup
from plait.runtime.executor import Reactor, Timer
from plait.runtime.process_tree import TreeRoot
from plait.system import processes
from plait.system.process_identity import Process

_FIRST_PAUSE, _MAX_PAUSE = 0.02, 0.25  # seconds between two looks at what is ending
_MAX_STOP_ROUNDS = 50  # of stopping whatever was forked meanwhile, before what was found is killed


class TerminationStage(IntEnum):
    INTERRUPT = 1
    TERMINATE = 2
    KILL = 3


_SIGNALS: Mapping[TerminationStage, Signals] = {
    TerminationStage.INTERRUPT: SIGINT,
    TerminationStage.TERMINATE: SIGTERM,
}


@dataclass(frozen=True, slots=True)
class GracePeriods:
    """Seconds: after INT, after TERM, after TERM for what outlived its attempt, for a warden that is alone to write the
    exit status, and until what can't be killed (it is somebody else's) is given up.
    """

    interrupt: float = 10.0
    terminate: float = 5.0
    leftover: float = 2.0
    supervisor: float = 1.0
    kill: float = 10.0


@dataclass(slots=True)
class Termination:
    root: TreeRoot
    stage: TerminationStage
    since: float
    grace: float
    signalled: set[tuple[int, int]] = field(default_factory=set)
    alone_since: float | None = None

    @property
    def supervisor(self) -> int:
        """0 when it is over."""
        return self.root.session if self.root.until is None else 0


FindTrees = Callable[[], Mapping[str, Sequence[Process]]]


class Terminator:
    """`survey` finds the living processes of every tree; `done` is told once when one has ended."""

    def __init__(
        self,
        reactor: Reactor,
        find_trees: FindTrees,
        done: Callable[[TreeRoot], None],
        grace_periods: GracePeriods,
    ) -> None:
        self._reactor = reactor
        self._find_trees = find_trees
        self._done = done
        self._grace_periods = grace_periods
        self._active: dict[str, Termination] = {}
        self._timer: Timer | None = None
        self._pause = _FIRST_PAUSE
        self._looked = 0.0

    def __contains__(self, marker: str) -> bool:
        return marker in self._active

    def start(self, root: TreeRoot, stage: TerminationStage, *, leftover: bool = False) -> None:
        """One that is under way only ever becomes firmer."""
        current = self._active.get(root.tag)
        if current is None:
            patience = self._grace(stage, leftover=leftover)
            self._active[root.tag] = Termination(root, stage, time.monotonic(), patience)
        elif stage > current.stage:
            self._advance(current, stage, leftover=leftover)
        self._look_soon()

    def _look_soon(self) -> None:
        """Look soon, once for all that has changed: at once, or a moment after the last look."""
        self._pause = _FIRST_PAUSE
        self._look_after(self._looked + _FIRST_PAUSE - time.monotonic())

    def _look_after(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._reactor.call_later(seconds, self._tick)

    def close(self) -> None:
        self._active.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _tick(self) -> None:
        began = time.monotonic()
        with suppress(OSError):  # the processes can't be seen now; soon, perhaps
            self._look()
        self._looked = time.monotonic()
        if self._active:
            # Where there are very many processes, looking at them must not take all of the loop's time.
            self._look_after(max(self._pause, 3 * (self._looked - began)))
            self._pause = min(_MAX_PAUSE, self._pause * 1.25)

    def _look(self) -> None:
        trees = self._find_trees()
        for ending in self._active.values():
            self._signal(ending, trees)
        firm = [ending for ending in self._active.values() if ending.stage is TerminationStage.KILL]
        if firm:
            self._kill(firm, trees)
        self._report_ended(trees)

    def _signal(self, ending: Termination, trees: Mapping[str, Sequence[Process]]) -> None:
        """Each process gets each signal once; one that is stopped has to go on to notice."""
        if ending.stage is not TerminationStage.KILL and time.monotonic() - ending.since > ending.grace:
            self._advance(ending, TerminationStage(ending.stage + 1))
        if ending.stage is TerminationStage.KILL:
            return
        for process in _list_remaining(ending, trees):
            if process.identity not in ending.signalled:
                ending.signalled.add(process.identity)
                processes.send_signal(process, _SIGNALS[ending.stage])
            if process.is_stopped:
                processes.send_signal(process, SIGCONT)

    def _kill(self, firm: Sequence[Termination], trees: Mapping[str, Sequence[Process]]) -> None:
        """First stopped, all of them, so that none can fork any more; then killed."""
        for ending in firm:
            if ending.root.cgroup:
                cgroup.kill_members(ending.root.cgroup)
        stopped: set[tuple[int, int]] = set()
        for _ in range(_MAX_STOP_ROUNDS):
            rest = [process for ending in firm for process in _list_remaining(ending, trees)]
            new = [process for process in rest if process.identity not in stopped]
            if not new:
                break
            for process in new:
                stopped.add(process.identity)
                processes.send_signal(process, SIGSTOP)
            trees = self._find_trees()
        for process in [process for ending in firm for process in _list_remaining(ending, trees)]:
            processes.send_signal(process, SIGKILL)

    def _report_ended(self, trees: Mapping[str, Sequence[Process]]) -> None:
        now = time.monotonic()
        for marker, ending in list(self._active.items()):
            rest = _list_remaining(ending, trees)
            hopeless = ending.stage is TerminationStage.KILL and now - ending.since > self._grace_periods.kill
            if not ending.supervisor and (hopeless or not rest):
                del self._active[marker]
                self._done(ending.root)
            elif ending.stage is TerminationStage.KILL and (hopeless or self._had_time_to_write(ending, rest, now)):
                for process in trees.get(marker, ()):
                    if process.pid == ending.supervisor:
                        processes.send_signal(process, SIGKILL)

    def _had_time_to_write(self, ending: Termination, rest: Sequence[Process], now: float) -> bool:
        """Whether the warden has had its time to write."""
        if rest:
            ending.alone_since = None
        elif ending.alone_since is None:
            ending.alone_since = now
        return ending.alone_since is not None and now - ending.alone_since > self._grace_periods.supervisor

    def _advance(self, ending: Termination, stage: TerminationStage, *, leftover: bool = False) -> None:
        ending.stage = stage
        ending.since = time.monotonic()
        ending.grace = self._grace(stage, leftover=leftover)
        ending.signalled.clear()

    def _grace(self, stage: TerminationStage, *, leftover: bool = False) -> float:
        if leftover:
            return self._grace_periods.leftover
        return self._grace_periods.interrupt if stage is TerminationStage.INTERRUPT else self._grace_periods.terminate


def _list_remaining(ending: Termination, trees: Mapping[str, Sequence[Process]]) -> list[Process]:
    return [process for process in trees.get(ending.root.tag, ()) if process.pid != ending.supervisor]
