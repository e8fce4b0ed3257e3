"""The simulated machine: it runs short of resources, its clock jumps, it dies, and so do other nodes."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Protocol

from plait.core.capacity import cluster_capacity
from plait.core.reports import CapacityChanged, PressureChanged, Report
from plait.core.status import WaitReason
from plait.testing.simulator.attempts import NODE_TIMEOUT_SECONDS, SimNodes
from plait.testing.simulator.event_queue import EventQueue
from plait.testing.simulator.fault_rates import FaultRates
from plait.testing.simulator.seeded_random import SeededRandom

_JUMPS = (-200.0, -5.0, 7.0, 90.0, 1800.0, 30_000.0)
_CAPACITIES = (
    CapacityChanged(0, "only 90 MiB of memory left"),
    CapacityChanged(1, "600 MiB of memory left"),
    CapacityChanged(2, "2 of your 4 slots are taken by another engine", WaitReason.SLOT),
    CapacityChanged(3, "2.0 GiB of memory left"),
    CapacityChanged(5, "3.0 GiB of memory left"),
)
_UNLIMITED = CapacityChanged(None)
_FINAL_CAPACITIES = (
    _UNLIMITED,
    _UNLIMITED,
    *_CAPACITIES[1:3],
)  # a small machine stays small: everything must end all the same


class MachineEffects(Protocol):
    """What the machine does to the rest of the world."""

    def deliver_sensor_report(self, report: PressureChanged | CapacityChanged) -> None: ...

    def lose_node(self, node: int) -> None: ...

    def lose_machine(self) -> None: ...

    def wake_engine(self) -> None: ...


class SimMachine:
    """A simulated machine. Its faults end at the horizon, except for a small capacity, which may stay."""

    def __init__(
        self, time: EventQueue, chance: SeededRandom, weather: FaultRates, stage: MachineEffects, nodes: SimNodes
    ) -> None:
        self._time = time
        self._stage = stage
        self._nodes = nodes
        self.pressure: str | None = None
        self.capacity = self._usual_capacity = _UNLIMITED
        rng = chance.stream("machine")
        self._schedule_repeated(rng, weather.pressure, weather.horizon, lambda: self._raise_pressure(rng))
        self._schedule_repeated(rng, weather.clock_jumps, weather.horizon, lambda: self._jump_clock(rng.choice(_JUMPS)))
        if weather.slots_per_node:
            self._deaths = chance.stream("deaths")
            self._schedule_repeated(rng, weather.node_deaths, weather.horizon, self._kill_node)
            time.schedule_at(0.0, self._count_slots)
            return
        self._schedule_repeated(rng, weather.node_deaths, weather.horizon, lambda: stage.lose_node(0))
        self._schedule_repeated(rng, weather.machine_deaths, weather.horizon, stage.lose_machine)
        rooms = chance.stream("rooms")
        lasting = rooms.choice(_FINAL_CAPACITIES)
        self._schedule_repeated(rooms, weather.capacity_changes, weather.horizon, lambda: self._lower_capacity(rooms))
        time.schedule_at(weather.horizon, lambda: self._set_pressure(None))
        time.schedule_at(weather.horizon, lambda: self._set_final_capacity(lasting))

    def _schedule_repeated(self, rng: Random, rate: float, horizon: float, happening: Callable[[], None]) -> None:
        when = 0.0
        while rate > 0 and (when := when + rng.expovariate(rate / 3600)) < horizon:
            self._time.schedule_at(when, happening)

    def _raise_pressure(self, rng: Random) -> None:
        self._set_pressure("memory is short")
        self._time.schedule_in(rng.uniform(1, 200), lambda: self._set_pressure(None))

    def _set_pressure(self, why: str | None) -> None:
        if self.pressure != why:
            self.pressure = why
            self._stage.deliver_sensor_report(PressureChanged(why))

    def _lower_capacity(self, rng: Random) -> None:
        self._set_capacity(rng.choice(_CAPACITIES))
        self._time.schedule_in(rng.uniform(1, 200), lambda: self._set_capacity(self._usual_capacity))

    def _set_final_capacity(self, room: CapacityChanged) -> None:
        self._usual_capacity = room
        self._set_capacity(room)

    def _set_capacity(self, room: CapacityChanged) -> None:
        if self.capacity != room:
            self.capacity = room
            self._stage.deliver_sensor_report(room)

    def _kill_node(self) -> None:
        """Kill a node: its attempts are lost at once, its slots when that is noticed; later it is back, and empty."""
        node = self._deaths.randrange(self._nodes.count)
        if node in self._nodes.dead:
            return
        self._nodes.dead.add(node)
        self._stage.lose_node(node)

        def withdraw() -> None:
            self._nodes.withdraw(node)
            self._count_slots()

        def revive() -> None:
            self._nodes.revive(node)
            self._count_slots()

        self._time.schedule_in(NODE_TIMEOUT_SECONDS, withdraw)
        self._time.schedule_in(NODE_TIMEOUT_SECONDS + self._deaths.uniform(60, 600), revive)

    def _count_slots(self) -> None:
        self._set_capacity(cluster_capacity(self._nodes.alive_slots))

    def current_reports(self) -> list[Report]:
        """Return what the sensors report to a new engine."""
        told: list[Report] = [] if self.pressure is None else [PressureChanged(self.pressure)]
        return told if self.capacity == _UNLIMITED else [*told, self.capacity]

    def _jump_clock(self, by: float) -> None:
        self._time.offset += by
        self._stage.wake_engine()
