"""How much room folders take on the disk, measured no more often than it is worth."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from plait.core.frozen import dataclass
from plait.site.outfitting import tree_size

RARELY = 50.0  # a folder is measured again after so many times the time that measuring it took


@dataclass(frozen=True, slots=True)
class Measure:
    size: int
    until: float


class Sizes:
    """Keyed by the folder itself, not by where it is: a rename changes nothing. Safe to use from several threads."""

    def __init__(self, *, rarely: float = RARELY, clock: Callable[[], float] = time.monotonic) -> None:
        self._rarely = rarely
        self._clock = clock
        self._known: dict[tuple[int, int], Measure] = {}

    def total(self, folders: Iterable[Path]) -> int:
        known, seen, size = self._known, dict[tuple[int, int], Measure](), 0
        for folder in folders:
            try:
                found = folder.lstat()
            except FileNotFoundError:
                continue
            key = (found.st_dev, found.st_ino)
            measure = known.get(key)
            seen[key] = measure if measure and self._clock() < measure.until else self._measure(folder)
            size += seen[key].size
        self._known = seen
        return size

    def _measure(self, folder: Path) -> Measure:
        began = self._clock()
        size = tree_size(folder)
        now = self._clock()
        return Measure(size, now + self._rarely * (now - began))
