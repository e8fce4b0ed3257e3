"""What the machine and the user's other engines leave room for, told to the core when it changes; and clock jumps."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from plait.core.reports import ClockJumped, PressureChanged, RateLimited, Report
from plait.core.room import share, shortage, survey
from plait.core.state import State
from plait.core.task import Attempt
from plait.engine.watch import Watch
from plait.ports import Elsewhere, Executor, Sensors

JUMP = 1.0  # seconds that the wall clock and passing time may disagree by
WEIGHED = 5.0  # seconds between two weighings of what runs


class Machine:
    """`where` names the place whose disk is watched; `crowded` says what else keeps anything from being started."""

    def __init__(
        self,
        sensors: Sensors,
        where: str,
        wall: Callable[[], float] = time.time,
        crowded: Callable[[], str | None] = lambda: None,
    ) -> None:
        self._sensors = sensors
        self._crowded = crowded
        self._wall = wall
        self._where = where
        self._offset = self._wall() - time.monotonic()
        self._weather = sensors.read()
        self._elsewhere: Elsewhere | None = None
        self._fresh = True  # the sensors have told something that was not thought about yet
        self._weighed = time.monotonic()
        self._sizes: Mapping[Attempt, int] = {}
        self._refusals: dict[str, float] = {}

    def clock(self) -> Iterator[Report]:
        """A laptop that slept, or a clock that was set."""
        by = (self._wall() - time.monotonic()) - self._offset
        if abs(by) > JUMP:
            self._offset += by
            yield ClockJumped(by)

    def look(self, executor: Executor, watch: Watch) -> None:
        """Read the sensors; now and then also weigh what runs."""
        self._weather, self._fresh = self._sensors.read(), True
        now = time.monotonic()
        if watch.running and now - self._weighed >= WEIGHED:
            self._weighed = now
            with suppress(OSError):  # the processes can't be seen now; what was weighed last holds
                self._sizes = executor.footprints()
            for attempt, size in self._sizes.items():
                watch.weigh(attempt, size)

    def stirred(self, elsewhere: Elsewhere) -> bool:
        """Whether there is anything that was not thought about yet."""
        return self._fresh or elsewhere != self._elsewhere

    def reports(self, state: State, elsewhere: Elsewhere) -> Iterator[Report]:
        """What the core does not know yet."""
        self._fresh, self._elsewhere = False, elsewhere
        yield from self._refused(elsewhere)
        # With nothing at work, nothing else would make room.
        crowded = self._crowded() if state.slots else None
        why = crowded or shortage(self._weather, state.pressure, self._where)
        if why != state.pressure:
            yield PressureChanged(why)
        left = share(state.settings.parallel_limit, elsewhere.slots, elsewhere.who, elsewhere.waiting)
        changed = survey(state, self._weather, self._sizes, left)
        if changed is not None:
            yield changed

    def _refused(self, elsewhere: Elsewhere) -> Iterator[Report]:
        for provider, until in elsewhere.refusals.items():
            if until > max(self._refusals.get(provider, 0.0), self._wall()):
                self._refusals[provider] = until
                yield RateLimited(provider, until)
