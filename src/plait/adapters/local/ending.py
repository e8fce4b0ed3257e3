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

from plait.core.frozen import dataclass
from plait.ports import Reactor, Timer
from plait.site import processes, scope
from plait.site.process import Process
from plait.site.tree import Root

_FIRST, _LONGEST = 0.02, 0.25  # seconds between two looks at what is ending
_ROUNDS = 50  # of stopping whatever was forked meanwhile, before what was found is killed


class Stage(IntEnum):
    ASK = 1
    TELL = 2
    KILL = 3


_SIGNALS: Mapping[Stage, Signals] = {Stage.ASK: SIGINT, Stage.TELL: SIGTERM}


@dataclass(frozen=True, slots=True)
class Graces:
    """Seconds: after INT, after TERM, after TERM for what outlived its attempt, for a warden that is alone to write the
    exit status, and until what can't be killed (it is somebody else's) is given up.
    """

    ask: float = 10.0
    tell: float = 5.0
    leftover: float = 2.0
    warden: float = 1.0
    kill: float = 10.0


@dataclass(slots=True)
class Ending:
    root: Root
    stage: Stage
    since: float
    patience: float
    signalled: set[tuple[int, int]] = field(default_factory=set)
    alone: float | None = None

    @property
    def warden(self) -> int:
        """0 when it is over."""
        return self.root.session if self.root.until is None else 0


Survey = Callable[[], Mapping[str, Sequence[Process]]]


class Endings:
    """`survey` finds the living processes of every tree; `done` is told once when one has ended."""

    def __init__(
        self, reactor: Reactor, survey: Survey, done: Callable[[Root], None], graces: Graces
    ) -> None:
        self._reactor = reactor
        self._survey = survey
        self._done = done
        self._graces = graces
        self._under_way: dict[str, Ending] = {}
        self._timer: Timer | None = None
        self._pause = _FIRST
        self._looked = 0.0

    def __contains__(self, marker: str) -> bool:
        return marker in self._under_way

    def begin(self, root: Root, stage: Stage, *, leftover: bool = False) -> None:
        """One that is under way only ever becomes firmer."""
        current = self._under_way.get(root.marker)
        if current is None:
            patience = self._patience(stage, leftover=leftover)
            self._under_way[root.marker] = Ending(root, stage, time.monotonic(), patience)
        elif stage > current.stage:
            self._advance(current, stage, leftover=leftover)
        self._hurry()

    def _hurry(self) -> None:
        """Look soon, once for all that has changed: at once, or a moment after the last look."""
        self._pause = _FIRST
        self._look_after(self._looked + _FIRST - time.monotonic())

    def _look_after(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._reactor.after(seconds, self._tick)

    def close(self) -> None:
        self._under_way.clear()
        if self._timer is not None:
            self._timer.cancel()

    def _tick(self) -> None:
        began = time.monotonic()
        with suppress(OSError):  # the processes can't be seen now; soon, perhaps
            self._look()
        self._looked = time.monotonic()
        if self._under_way:
            # Where there are very many processes, looking at them must not take all of the loop's time.
            self._look_after(max(self._pause, 3 * (self._looked - began)))
            self._pause = min(_LONGEST, self._pause * 1.25)

    def _look(self) -> None:
        trees = self._survey()
        for ending in self._under_way.values():
            self._press(ending, trees)
        firm = [ending for ending in self._under_way.values() if ending.stage is Stage.KILL]
        if firm:
            self._kill(firm, trees)
        self._settle(trees)

    def _press(self, ending: Ending, trees: Mapping[str, Sequence[Process]]) -> None:
        """Each process gets each signal once; one that is stopped has to go on to notice."""
        if ending.stage is not Stage.KILL and time.monotonic() - ending.since > ending.patience:
            self._advance(ending, Stage(ending.stage + 1))
        if ending.stage is Stage.KILL:
            return
        for process in _rest(ending, trees):
            if process.identity not in ending.signalled:
                ending.signalled.add(process.identity)
                processes.send(process, _SIGNALS[ending.stage])
            if process.stopped:
                processes.send(process, SIGCONT)

    def _kill(self, firm: Sequence[Ending], trees: Mapping[str, Sequence[Process]]) -> None:
        """First stopped, all of them, so that none can fork any more; then killed."""
        for ending in firm:
            if ending.root.scope:
                scope.kill(ending.root.scope)
        stopped: set[tuple[int, int]] = set()
        for _ in range(_ROUNDS):
            rest = [process for ending in firm for process in _rest(ending, trees)]
            new = [process for process in rest if process.identity not in stopped]
            if not new:
                break
            for process in new:
                stopped.add(process.identity)
                processes.send(process, SIGSTOP)
            trees = self._survey()
        for process in [process for ending in firm for process in _rest(ending, trees)]:
            processes.send(process, SIGKILL)

    def _settle(self, trees: Mapping[str, Sequence[Process]]) -> None:
        now = time.monotonic()
        for marker, ending in list(self._under_way.items()):
            rest = _rest(ending, trees)
            hopeless = ending.stage is Stage.KILL and now - ending.since > self._graces.kill
            if not ending.warden and (hopeless or not rest):
                del self._under_way[marker]
                self._done(ending.root)
            elif ending.stage is Stage.KILL and (hopeless or self._alone(ending, rest, now)):
                for process in trees.get(marker, ()):
                    if process.pid == ending.warden:
                        processes.send(process, SIGKILL)

    def _alone(self, ending: Ending, rest: Sequence[Process], now: float) -> bool:
        """Whether the warden has had its time to write."""
        if rest:
            ending.alone = None
        elif ending.alone is None:
            ending.alone = now
        return ending.alone is not None and now - ending.alone > self._graces.warden

    def _advance(self, ending: Ending, stage: Stage, *, leftover: bool = False) -> None:
        ending.stage = stage
        ending.since = time.monotonic()
        ending.patience = self._patience(stage, leftover=leftover)
        ending.signalled.clear()

    def _patience(self, stage: Stage, *, leftover: bool = False) -> float:
        if leftover:
            return self._graces.leftover
        return self._graces.ask if stage is Stage.ASK else self._graces.tell


def _rest(ending: Ending, trees: Mapping[str, Sequence[Process]]) -> list[Process]:
    return [process for process in trees.get(ending.root.marker, ()) if process.pid != ending.warden]
