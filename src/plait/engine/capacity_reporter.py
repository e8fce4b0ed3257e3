"""What the machine and the user's other engines leave room for, told to the core when it changes; and clock jumps."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from plait.core.capacity import describe_shortage, find_capacity_change, shared_capacity
from plait.core.reports import ClockJumped, PressureChanged, RateLimited, Report
from plait.core.state import State
from plait.core.task import Attempt
from plait.engine.attempts import Attempts
from plait.system.interfaces import OtherEngines, Sensors

CLOCK_JUMP_SECONDS = 1.0  # seconds that the wall clock and passing time may disagree by
MEMORY_CHECK_SECONDS = 5.0  # seconds between two weighings of what runs


class CapacityReporter:
    """`where` names the place whose disk is watched; `crowded` says what else keeps anything from being started."""

    def __init__(
        self,
        sensors: Sensors,
        where: str,
        wall: Callable[[], float] = time.time,
        disk_full_reason: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._sensors = sensors
        self._disk_full_reason = disk_full_reason
        self._wall = wall
        self._where = where
        self._offset = self._wall() - time.monotonic()
        self._reading = sensors.read()
        self._other_engines: OtherEngines | None = None
        self._has_new_reading = True  # the sensors have told something that was not thought about yet
        self._memory_checked_at = time.monotonic()
        self._sizes: Mapping[Attempt, int] = {}
        self._reported_limits: dict[str, float] = {}

    def report_clock_jump(self) -> Iterator[Report]:
        """A laptop that slept, or a clock that was set."""
        by = (self._wall() - time.monotonic()) - self._offset
        if abs(by) > CLOCK_JUMP_SECONDS:
            self._offset += by
            yield ClockJumped(by)

    def read_sensors(self, attempts: Attempts) -> None:
        """Read the sensors and, less often, the memory that running attempts use."""
        self._reading, self._has_new_reading = self._sensors.read(), True
        now = time.monotonic()
        if attempts.running and now - self._memory_checked_at >= MEMORY_CHECK_SECONDS:
            self._memory_checked_at = now
            with suppress(OSError):  # the processes can't be seen now; what was weighed last holds
                self._sizes = attempts.executor.measure_memory()
            for attempt, size in self._sizes.items():
                attempts.record_memory(attempt, size)

    def has_changed(self, elsewhere: OtherEngines) -> bool:
        """Whether there is anything that was not thought about yet."""
        return self._has_new_reading or elsewhere != self._other_engines

    def report_changes(self, state: State, elsewhere: OtherEngines) -> Iterator[Report]:
        """What the core does not know yet."""
        self._has_new_reading, self._other_engines = False, elsewhere
        yield from self._report_rate_limits(elsewhere)
        # With nothing at work, nothing else would make room.
        crowded = self._disk_full_reason() if state.slots else None
        why = crowded or describe_shortage(self._reading, state.pressure, self._where)
        if why != state.pressure:
            yield PressureChanged(why)
        left = shared_capacity(state.settings.parallel_limit, elsewhere.slots, elsewhere.who, elsewhere.waiting)
        changed = find_capacity_change(state, self._reading, self._sizes, left)
        if changed is not None:
            yield changed

    def _report_rate_limits(self, elsewhere: OtherEngines) -> Iterator[Report]:
        for provider, until in elsewhere.refusals.items():
            if until > max(self._reported_limits.get(provider, 0.0), self._wall()):
                self._reported_limits[provider] = until
                yield RateLimited(provider, until)
