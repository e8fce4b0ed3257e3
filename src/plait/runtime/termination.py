"""Ends trees of processes: SIGINT, then SIGTERM, then SIGKILL, until none is left.

All terminations share one pass over the machine's processes. A supervisor is spared, so that it can write the exit
status; if it does not, it is killed too.
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

_FIRST_PAUSE, _MAX_PAUSE = 0.02, 0.25  # seconds between two passes
_MAX_STOP_ROUNDS = 50  # of stopping processes that were forked meanwhile


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
    """Seconds: after INT, after TERM, after TERM for leftovers, for a supervisor that is alone to write the exit status,
    and until processes that can't be killed (of another user) are given up.
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
        """Return the supervisor's pid; 0 if it has exited."""
        return self.root.session if self.root.until is None else 0


FindTrees = Callable[[], Mapping[str, Sequence[Process]]]


class Terminator:
    """Ends trees. `find_trees` finds the living processes of every tree; `done` is called once for each tree that has
    ended.
    """

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

    def __contains__(self, tag: str) -> bool:
        return tag in self._active

    def start(self, root: TreeRoot, stage: TerminationStage, *, leftover: bool = False) -> None:
        """Start ending a tree. A termination that runs may advance to a later stage, but never goes back."""
        current = self._active.get(root.tag)
        if current is None:
            grace = self._grace(stage, leftover=leftover)
            self._active[root.tag] = Termination(root, stage, time.monotonic(), grace)
        elif stage > current.stage:
            self._advance(current, stage, leftover=leftover)
        self._look_soon()

    def _look_soon(self) -> None:
        """Look for remaining processes now, or a moment after the last pass, once for all changes."""
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
        with suppress(OSError):  # try again in the next pass
            self._look()
        self._looked = time.monotonic()
        if self._active:
            # With very many processes, a pass must not block the loop.
            self._look_after(max(self._pause, 3 * (self._looked - began)))
            self._pause = min(_MAX_PAUSE, self._pause * 1.25)

    def _look(self) -> None:
        trees = self._find_trees()
        for termination in self._active.values():
            self._signal(termination, trees)
        killing = [termination for termination in self._active.values() if termination.stage is TerminationStage.KILL]
        if killing:
            self._kill(killing, trees)
        self._report_ended(trees)

    def _signal(self, termination: Termination, trees: Mapping[str, Sequence[Process]]) -> None:
        """Send each process each signal once; a stopped one is continued so that it can handle it."""
        if termination.stage is not TerminationStage.KILL and time.monotonic() - termination.since > termination.grace:
            self._advance(termination, TerminationStage(termination.stage + 1))
        if termination.stage is TerminationStage.KILL:
            return
        remaining = _list_remaining(termination, trees)
        commands = {process.pid for process in remaining if process.parent == termination.supervisor}
        for process in remaining:
            if process.parent in {termination.supervisor, *commands} and _is_sandbox(process):
                continue
            if process.identity not in termination.signalled:
                termination.signalled.add(process.identity)
                processes.send_signal(process, _SIGNALS[termination.stage])
            if process.is_stopped:
                processes.send_signal(process, SIGCONT)

    def _kill(self, killing: Sequence[Termination], trees: Mapping[str, Sequence[Process]]) -> None:
        """Kill trees: first stop all their processes, so that none can fork any more, then kill them."""
        for termination in killing:
            if termination.root.cgroup:
                cgroup.kill_members(termination.root.cgroup)
        stopped: set[tuple[int, int]] = set()
        for _ in range(_MAX_STOP_ROUNDS):
            rest = [process for termination in killing for process in _list_remaining(termination, trees)]
            new = [process for process in rest if process.identity not in stopped]
            if not new:
                break
            for process in new:
                stopped.add(process.identity)
                processes.send_signal(process, SIGSTOP)
            trees = self._find_trees()
        for process in [process for termination in killing for process in _list_remaining(termination, trees)]:
            processes.send_signal(process, SIGKILL)

    def _report_ended(self, trees: Mapping[str, Sequence[Process]]) -> None:
        now = time.monotonic()
        for tag, termination in list(self._active.items()):
            rest = _list_remaining(termination, trees)
            hopeless = termination.stage is TerminationStage.KILL and now - termination.since > self._grace_periods.kill
            if not termination.supervisor and (hopeless or not rest):
                del self._active[tag]
                self._done(termination.root)
            elif termination.stage is TerminationStage.KILL and (
                hopeless or self._had_time_to_write(termination, rest, now)
            ):
                for process in trees.get(tag, ()):
                    if process.pid == termination.supervisor:
                        processes.send_signal(process, SIGKILL)

    def _had_time_to_write(self, termination: Termination, rest: Sequence[Process], now: float) -> bool:
        """Whether the supervisor has had time to write the exit status."""
        if rest:
            termination.alone_since = None
        elif termination.alone_since is None:
            termination.alone_since = now
        return termination.alone_since is not None and now - termination.alone_since > self._grace_periods.supervisor

    def _advance(self, termination: Termination, stage: TerminationStage, *, leftover: bool = False) -> None:
        termination.stage = stage
        termination.since = time.monotonic()
        termination.grace = self._grace(stage, leftover=leftover)
        termination.signalled.clear()

    def _grace(self, stage: TerminationStage, *, leftover: bool = False) -> float:
        if leftover:
            return self._grace_periods.leftover
        return self._grace_periods.interrupt if stage is TerminationStage.INTERRUPT else self._grace_periods.terminate


def _is_sandbox(process: Process) -> bool:
    """Whether the process is bwrap. It would die of the signal, and all in the sandbox with it, without grace; it ends
    when its command does.
    """
    argv = processes.command_line(process.pid)
    return bool(argv) and argv[0].rpartition("/")[2] == "bwrap"


def _list_remaining(termination: Termination, trees: Mapping[str, Sequence[Process]]) -> list[Process]:
    return [process for process in trees.get(termination.root.tag, ()) if process.pid != termination.supervisor]
