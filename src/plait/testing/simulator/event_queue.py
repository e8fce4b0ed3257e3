"""Scheduled calls in order of time; equal times keep their order."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from math import inf

ScheduledCall = Callable[[], None]
START_TIME = 1_800_000_000.0


class EventQueue:
    """A queue of calls. `now` is monotonic time; the wall clock differs from it by `offset`, which jumps."""

    __slots__ = ("_count", "_heap", "now", "offset")

    def __init__(self) -> None:
        self.now = 0.0
        self.offset = START_TIME
        self._heap: list[tuple[float, int, ScheduledCall]] = []
        self._count = 0

    @property
    def wall(self) -> float:
        return self.now + self.offset

    def schedule_in(self, delay: float, happening: ScheduledCall) -> None:
        self.schedule_at(self.now + max(delay, 0.0), happening)

    def schedule_at(self, when: float, happening: ScheduledCall) -> None:
        """Schedule a call; at infinity means never."""
        if when == inf:
            return
        self._count += 1
        heappush(self._heap, (when, self._count, happening))

    def next_time(self) -> float | None:
        return self._heap[0][0] if self._heap else None

    def step(self) -> None:
        """Make the next call."""
        when, _, happening = heappop(self._heap)
        self.now = max(self.now, when)
        happening()

    def skip_to(self, when: float) -> None:
        self.now = max(self.now, when)
