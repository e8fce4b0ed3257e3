"""The machine under it all: it runs short of room, its clock jumps, it dies, and so do its neighbours."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Protocol

from plait.core.reports import CapacityChanged, PressureChanged, Report
from plait.core.status import Waiting
from plait.testing.simulator.event_queue import Timeline
from plait.testing.simulator.fault_rates import Weather
from plait.testing.simulator.seeded_random import Chance

_JUMPS = (-200.0, -5.0, 7.0, 90.0, 1800.0, 30_000.0)
_ROOMS = (
    CapacityChanged(0, "only 90 MiB of memory left"),
    CapacityChanged(1, "600 MiB of memory left"),
    CapacityChanged(2, "2 of your 4 slots are taken by another engine", Waiting.SLOT),
    CapacityChanged(3, "2.0 GiB of memory left"),
    CapacityChanged(5, "3.0 GiB of memory left"),
)
_NO_BOUND = CapacityChanged(None)
_FOR_EVER = (
    _NO_BOUND,
    _NO_BOUND,
    *_ROOMS[1:3],
)  # a small machine stays small: everything must end all the same


class Stage(Protocol):
    """What the machine does to the rest of the world."""

    def sense(self, report: PressureChanged | CapacityChanged) -> None: ...

    def lose_node(self) -> None: ...

    def lose_machine(self) -> None: ...

    def wake_engine(self) -> None: ...


class Machine:
    """What it does to the world is planned at the start and over at the horizon, but for a small room, which may stay."""

    def __init__(self, time: Timeline, chance: Chance, weather: Weather, stage: Stage) -> None:
        self._time = time
        self._stage = stage
        self.pressure: str | None = None
        self.room = self._usual = _NO_BOUND
        rng = chance.rng("machine")
        self._plan(rng, weather.pressure, weather.horizon, lambda: self._squeeze(rng))
        self._plan(rng, weather.jumps, weather.horizon, lambda: self._jump(rng.choice(_JUMPS)))
        self._plan(rng, weather.node_deaths, weather.horizon, stage.lose_node)
        self._plan(rng, weather.machine_deaths, weather.horizon, stage.lose_machine)
        rooms = chance.rng("rooms")
        lasting = rooms.choice(_FOR_EVER)
        self._plan(rooms, weather.rooms, weather.horizon, lambda: self._narrow(rooms))
        time.at(weather.horizon, lambda: self._set(None))
        time.at(weather.horizon, lambda: self._settle(lasting))

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

    def _narrow(self, rng: Random) -> None:
        self._resize(rng.choice(_ROOMS))
        self._time.after(rng.uniform(1, 200), lambda: self._resize(self._usual))

    def _settle(self, room: CapacityChanged) -> None:
        self._usual = room
        self._resize(room)

    def _resize(self, room: CapacityChanged) -> None:
        if self.room != room:
            self.room = room
            self._stage.sense(room)

    def seen(self) -> list[Report]:
        """What sensors tell an engine that knows nothing yet."""
        told: list[Report] = [] if self.pressure is None else [PressureChanged(self.pressure)]
        return told if self.room == _NO_BOUND else [*told, self.room]

    def _jump(self, by: float) -> None:
        self._time.offset += by
        self._stage.wake_engine()
