"""Providers of models: they refuse everybody for a while, or everybody beyond a few at once."""

from __future__ import annotations

from collections.abc import Callable

from plait.core.reports import RateLimited
from plait.testing.simulator.event_queue import EventQueue
from plait.testing.simulator.fault_rates import FaultRates
from plait.testing.simulator.seeded_random import SeededRandom


class SimProviders:
    """Windows of refusal lie in time that passes; what providers say about them is in wall-clock time."""

    __slots__ = ("_capacity", "_chance", "_time", "_windows")

    def __init__(
        self, names: tuple[str, ...], chance: SeededRandom, weather: FaultRates, time: EventQueue
    ) -> None:
        self._chance = chance
        self._time = time
        self._windows = {name: _make_windows(name, chance, weather) for name in names}
        self._capacity = {
            name: chance.stream("capacity", name).randint(1, 3)
            for name in names
            if chance.happens(weather.limited_provider, "crowded", name)
        }

    def find_refusal_end(self, provider: str, load: int) -> float | None:
        """Until when it serves nobody, None when it serves now. `load` counts the one who asks."""
        now = self._time.now
        for start, end in self._windows.get(provider, ()):
            if start <= now < end:
                return end
        if load > self._capacity.get(provider, load):
            return now + 30.0
        return None

    def schedule_reports(self, tell: Callable[[RateLimited], None]) -> None:
        """Some windows are noticed from outside: another engine met them first."""
        for provider, windows in self._windows.items():
            for start, end in windows:
                if self._chance.happens(0.4, "announced", provider, start):
                    self._time.schedule_at(start, lambda p=provider, e=end: tell(self._make_report(p, e)))  # type: ignore[misc]

    def _make_report(self, provider: str, end: float) -> RateLimited:
        return RateLimited(provider, end + self._time.offset)


def _make_windows(name: str, chance: SeededRandom, weather: FaultRates) -> tuple[tuple[float, float], ...]:
    rng = chance.stream("windows", name)
    windows = []
    start = 0.0
    while (
        weather.refusal_windows > 0
        and (start := start + rng.expovariate(weather.refusal_windows / 3600)) < weather.horizon
    ):
        windows.append((start, start + rng.choice((5.0, 60.0, 400.0))))
    return tuple(windows)
