"""How much room folders take on the disk, measured no more often than it is worth."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.system.disk import tree_size

REMEASURE_FACTOR = 50.0  # a folder is measured again after so many times the time that measuring it took


@dataclass(frozen=True, slots=True)
class Measurement:
    size: int
    until: float


class DiskUsageCache:
    """Keyed by the folder itself, not by where it is: a rename changes nothing. Safe to use from several threads."""

    def __init__(
        self, *, remeasure_factor: float = REMEASURE_FACTOR, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._remeasure_factor = remeasure_factor
        self._clock = clock
        self._known: dict[tuple[int, int], Measurement] = {}

    def total(self, folders: Iterable[Path]) -> int:
        known, seen, size = self._known, dict[tuple[int, int], Measurement](), 0
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

    def _measure(self, folder: Path) -> Measurement:
        began = self._clock()
        size = tree_size(folder)
        now = self._clock()
        return Measurement(size, now + self._remeasure_factor * (now - began))
