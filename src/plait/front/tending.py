"""Tending: while there is work and nobody does it, an engine is started; one that dies at once is not started for ever."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from plait import wiring
from plait.core.errors import WorldError
from plait.core.events import Record
from plait.core.reports import MachineReport
from plait.wiring import Place

if TYPE_CHECKING:
    from plait.wiring import Held

DEATHS = 3
WITHIN = 10.0  # seconds
PATIENCE = 30.0  # until an engine that runs, and has not taken the lease, counts as dead
LOG_LINES = 8
LOG_BYTES = 4096

_start: Callable[[Place], int] = wiring.start_engine


class Tender:
    """Deaths count only while nothing is achieved in between: an engine that is killed now and then goes on."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._pid: int | None = None
        self._started: float | None = None  # None: none is on its way
        self._seen = False  # it took the lease
        self._deaths: list[float] = []
        self._held: Held | None = None

    def move(self, place: Place) -> None:
        """Engines are started there from now on."""
        self._place = place

    def warm(self, begun: Held | None = None) -> None:
        """There will be work: let one get ready meanwhile, if it is not `begun`. With one at work, none is needed."""
        self._held = self._held or begun
        if self._held is None and wiring.engine_of(self._place) is None:
            self._held = wiring.warm_engine(self._place)

    def close(self) -> None:
        if self._held is not None:
            self._held.drop()
            self._held = None

    def hear(self, record: Record) -> None:
        if not isinstance(record.event, MachineReport):
            self._deaths.clear()

    def tend(self) -> None:
        """There is work: see that somebody does it. Raises WorldError when engines do not stay."""
        if wiring.engine_of(self._place) is not None:
            self._seen = True
            return
        if self._started is not None:
            if not self._seen and not self._gone():
                return
            self._note_death()
        self._pid, self._started, self._seen = self._begin(), time.monotonic(), False

    def _begin(self) -> int:
        held, self._held = self._held, None
        return held.go() if held is not None else _start(self._place)

    def _gone(self) -> bool:
        """A front that started it is its parent, and can tell."""
        assert self._started is not None
        if self._pid is None or time.monotonic() - self._started > PATIENCE:
            return True
        try:
            return os.waitpid(self._pid, os.WNOHANG)[0] != 0
        except ChildProcessError:
            return True

    def _note_death(self) -> None:
        now = time.monotonic()
        self._started = None
        self._deaths = [at for at in self._deaths if now - at < WITHIN] + [now]
        if len(self._deaths) >= DEATHS:
            raise self._does_not_stay()

    def _does_not_stay(self) -> WorldError:
        path = self._place.state / wiring.LOG
        told = "".join(f"\n    {line}" for line in _last_lines(path))
        return WorldError(
            f"the engine has ended {DEATHS} times within {WITHIN:.0f} seconds; nothing is lost, and nothing is done",
            hint=f"Its log {path} ends with:{told}" if told else f"Its log {path} says nothing.",
        )


def _last_lines(path: Path) -> list[str]:
    with suppress(OSError), path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - LOG_BYTES))
        return file.read().decode("utf-8", "replace").splitlines()[-LOG_LINES:]
    return []
