"""FileCommons: what all engines of one user share, as files. Whatever is wrong with them, an engine goes on: alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from plait.adapters.commons import lock
from plait.adapters.commons.engines import Engines, Other
from plait.adapters.commons.leases import USUAL, Leases
from plait.adapters.commons.lock import Lock
from plait.adapters.commons.refusals import Refusals
from plait.ports import Elsewhere

_NAMED = 3  # engines that `who` names

T = TypeVar("T")


def open_commons(folder: Path, *, engine: str, range_of_ports: range = USUAL) -> FileCommons:
    """`engine` is its name for people and its identity, from crash to crash: one for each state folder. Never raises."""
    return FileCommons(folder, engine, range_of_ports)


class FileCommons:
    """A Commons. It belongs to one thread, and nobody forks while it is open: a fork would keep its locks."""

    def __init__(self, folder: Path, engine: str, ports: range) -> None:
        self._folder = folder
        self._lock = Lock(folder / "lock")
        self._engines = Engines(folder / "engines", engine)
        self._refusals = Refusals(folder / "refusals.json", self._engines.id)
        self._leases = Leases(folder / "ports", self._engines.id, ports)
        self._failed: dict[str, str] = {}
        with self._locked():
            self._trying("entry", None, self._engines.enter)

    @property
    def problem(self) -> str:
        """What keeps this engine from sharing, for people; empty if nothing does."""
        if self._failed:
            why = next(iter(self._failed.values()))
            return f"slots and ports are not shared with your other engines, since {self._folder} can't be used: {why}"
        if self._lock.stuck:
            return (
                f"process {self._lock.stuck} has not let go of {self._lock.path} for {lock.PATIENCE:.0f} seconds, and is not "
                "waited for; it may have been stopped: kill -CONT lets it go on"
            )
        return ""

    @contextmanager
    def turn(self) -> Iterator[Elsewhere]:
        with self._locked():
            self._trying("entry", None, self._engines.enter)
            yield self._trying("others", Elsewhere(), self._look)

    def hold(self, slots: int, pids: Sequence[int], *, waiting: bool = False) -> None:
        with self._locked():
            self._trying("entry", None, lambda: self._engines.hold(slots, pids, waiting=waiting))

    def refused(self, provider: str, until: float) -> None:
        with self._locked():
            self._trying("refusals", None, lambda: self._refusals.tell(provider, until, time.time()))

    def lease(self, batch: str, task: str) -> range:
        spare = self._trying("ports", None, lambda: self._leases.again(batch, task))
        if spare is not None:
            return spare
        with self._locked():
            living = self._living if self._lock.mine else None
            leased = self._trying("ports", range(0), lambda: self._leases.lease(batch, task, living))
        if self._leases.problem:
            self._failed["ports"] = str(self._leases.problem)
        return leased

    def give_back(self, batch: str, task: str) -> None:
        self._trying("ports", None, lambda: self._leases.give_back(batch, task))

    def close(self) -> None:
        """Leases stay, and so do the slots of attempts that run on."""
        self._trying("ports", None, self._leases.close)
        self._engines.leave()

    def _look(self) -> Elsewhere:
        others = list(self._engines.others(tidy=self._lock.mine))
        refusals = self._refusals.heard(time.time(), tidy=self._lock.mine)
        busy = sorted((each for each in others if each.slots), key=lambda each: (-each.slots, each.engine))
        waiting = sum(each.waiting for each in others)
        return Elsewhere(sum(each.slots for each in busy), _who(busy), waiting, refusals)

    def _living(self) -> set[str]:
        return {each.id for each in self._engines.others(tidy=False)}

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """With the lock, or without it if it can't be had."""
        self._trying("lock", None, self._lock.take)
        try:
            yield
        finally:
            self._lock.release()

    def _trying(self, what: str, otherwise: T, act: Callable[[], T]) -> T:
        try:
            done = act()
        except OSError as error:
            self._failed[what] = str(error)
            return otherwise
        self._failed.pop(what, None)
        return done


def _who(busy: Sequence[Other]) -> str:
    named = [f"{each.engine} ({each.slots})" for each in busy[:_NAMED]]
    more = len(busy) - len(named)
    return ", ".join([*named, *([f"{more} more"] if more else [])])
