from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from typing import Protocol

from plait.core.capacity import MachineReadings
from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass


class SourceWriteError(WorldError):
    """Statuses could not be written to a source; its file is whole, and what people saved is in it."""


class Sensors(Protocol):
    def read(self) -> MachineReadings: ...


@dataclass(frozen=True, slots=True)
class OtherEngines:
    """What the user's other engines do: slots they have taken, and providers that refused them, with until when.

    `waiting` of them have something ready that finds no slot.
    """

    slots: int = 0
    who: str = ""
    waiting: int = 0
    refusals: Mapping[str, float] = field(default_factory=dict)


class SharedState(Protocol):
    """What all engines of one user share: slots, refusals of providers, blocks of ports."""

    @property
    def problem(self) -> str:
        """What keeps this engine from sharing, for people; empty if nothing does."""

    def lock(self) -> AbstractContextManager[OtherEngines]:
        """While it is held, no other engine takes slots."""

    def record_usage(self, slots: int, pids: Sequence[int], *, waiting: bool = False) -> None:
        """Inside a turn: this engine has so many slots now, taken by these processes (they count on if it dies).

        `waiting`: it has more to start, and would like the others to leave it a share.
        """

    def report_refusal(self, provider: str, until: float) -> None:
        """Tell the others."""

    def lease_ports(self, batch: str, task: str) -> range:
        """A block of free ports for a task, the same one each time until it is given back."""

    def release_ports(self, batch: str, task: str) -> None: ...

    def close(self) -> None: ...


class HealthFile(Protocol):
    """What keeps the engine from going on, told to fronts without a record. Nothing here fails."""

    def write(self, what: str) -> None: ...

    def clear(self) -> None: ...


class SleepInhibitor(Protocol):
    """Keeps the machine from falling asleep."""

    @property
    def problem(self) -> str:
        """Why it can't be kept from it; empty when it can."""

    def acquire(self) -> None:
        """Held twice is held once."""

    def release(self) -> None: ...
