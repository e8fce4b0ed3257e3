"""A reactor: one thread that waits for descriptors, timers and other threads, and calls back."""

from __future__ import annotations

import heapq
import os
import selectors
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import field
from itertools import count

from plait.core.fast_dataclass import dataclass

Callback = Callable[[], None]


@dataclass(order=True, slots=True)
class _SelectTimer:
    at: float
    order: int
    then: Callback | None = field(compare=False)

    def cancel(self) -> None:
        self.then = None


class SelectReactor:
    """A loop around a selector, as a Reactor. An exception in a callback ends the loop."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._timers: list[_SelectTimer] = []
        self._order = count()
        self._posted: deque[Callback] = deque()
        self._wake_reader, self._wake_writer = os.pipe()
        for end in (self._wake_reader, self._wake_writer):
            os.set_blocking(end, False)
        self.watch(self._wake_reader, self._drain)

    def watch(self, fd: int, ready: Callback) -> None:
        self._selector.register(fd, selectors.EVENT_READ, ready)

    def unwatch(self, fd: int) -> None:
        with suppress(KeyError):
            self._selector.unregister(fd)

    def call_later(self, seconds: float, then: Callback) -> _SelectTimer:
        timer = _SelectTimer(time.monotonic() + max(0.0, seconds), next(self._order), then)
        heapq.heappush(self._timers, timer)
        return timer

    def call_soon(self, then: Callback) -> None:
        self._posted.append(then)
        with suppress(BlockingIOError, OSError):  # full: it is awake; closed: the loop has ended
            os.write(self._wake_writer, b".")

    def step(self, max_seconds: float | None = None) -> None:
        """Wait for something to happen, for at most `max_seconds` seconds, and run its callbacks."""
        for key, _ in self._selector.select(self._select_timeout(max_seconds)):
            # An earlier callback of this round may have removed it, and its number may have been reused.
            current = self._selector.get_map().get(key.fd)
            if current is not None and current.data is key.data:
                key.data()
        self._fire_timers()
        for _ in range(len(self._posted)):
            self._posted.popleft()()

    def close(self) -> None:
        self._selector.close()
        os.close(self._wake_reader)
        os.close(self._wake_writer)

    def _select_timeout(self, max_seconds: float | None) -> float | None:
        if self._posted:
            return 0.0
        while self._timers and self._timers[0].then is None:
            heapq.heappop(self._timers)
        if not self._timers:
            return max_seconds
        remaining = max(0.0, self._timers[0].at - time.monotonic())
        return remaining if max_seconds is None else min(remaining, max_seconds)

    def _fire_timers(self) -> None:
        now = time.monotonic()
        while self._timers and self._timers[0].at <= now:
            then = heapq.heappop(self._timers).then
            if then is not None:
                then()

    def _drain(self) -> None:
        with suppress(BlockingIOError):
            while os.read(self._wake_reader, 4096):
                pass
