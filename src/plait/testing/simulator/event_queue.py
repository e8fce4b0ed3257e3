"""What will happen, in order of time; equal times keep the order in which they were announced."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from math import inf

Happening = Callable[[], None]

START = 1_800_000_000.0


class Timeline:
    """`now` is the time that passes; the wall clock differs from it by `offset`, which jumps."""

    __slots__ = ("_count", "_heap", "now", "offset")

    def __init__(self) -> None:
        self.now = 0.0
        self.offset = START
        self._heap: list[tuple[float, int, Happening]] = []
        self._count = 0

    @property
    def wall(self) -> float:
        return self.now + self.offset

    def after(self, delay: float, happening: Happening) -> None:
        self.at(self.now + max(delay, 0.0), happening)

    def at(self, when: float, happening: Happening) -> None:
        """At infinity means never."""
        if when == inf:
            return
        self._count += 1
        heappush(self._heap, (when, self._count, happening))

    def next(self) -> float | None:
        return self._heap[0][0] if self._heap else None

    def step(self) -> None:
        """Let the next thing happen."""
        when, _, happening = heappop(self._heap)
        self.now = max(self.now, when)
        happening()

    def skip_to(self, when: float) -> None:
        self.now = max(self.now, when)
