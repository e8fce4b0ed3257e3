"""The machine under it all: it runs short of memory, its clock jumps, it dies, and so do its neighbours."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Protocol

from plait.core.reports import PressureChanged
from plait.testing.chance import Chance
from plait.testing.timeline import Timeline
from plait.testing.weather import Weather

_JUMPS = (-200.0, -5.0, 7.0, 90.0, 1800.0, 30_000.0)


class Stage(Protocol):
    """What the machine does to the rest of the world."""

    def sense(self, report: PressureChanged) -> None: ...

    def lose_node(self) -> None: ...

    def lose_machine(self) -> None: ...

    def wake_engine(self) -> None: ...


class Machine:
    """Everything it does to the world is planned at the start and over at the horizon."""

    def __init__(self, time: Timeline, chance: Chance, weather: Weather, stage: Stage) -> None:
        self._time = time
        self._stage = stage
        self.pressure: str | None = None
        rng = chance.rng("machine")
        self._plan(rng, weather.pressure, weather.horizon, lambda: self._squeeze(rng))
        self._plan(rng, weather.jumps, weather.horizon, lambda: self._jump(rng.choice(_JUMPS)))
        self._plan(rng, weather.node_deaths, weather.horizon, stage.lose_node)
        self._plan(rng, weather.machine_deaths, weather.horizon, stage.lose_machine)
        time.at(weather.horizon, lambda: self._set(None))

    def _plan(self, rng: Random, rate: float, horizon: float, happening: Callable[[], None]) -> None:
        when = 0.0
        while rate > 0 and (when := when + rng.expovariate(rate / 3600)) < horizon:
            self._time.at(when, happening)

    def _squeeze(self, rng: Random) -> None:
        self._set("memory is short")
        self._time.after(rng.uniform(1, 200), lambda: self._set(None))

    def _set(self, why: str | None) -> None:
        if self.pressure != why:
            self.pressure = why
            self._stage.sense(PressureChanged(why))

    def _jump(self, by: float) -> None:
        self._time.offset += by
        self._stage.wake_engine()
