from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from typing import Protocol

from plait.core.capacity import MachineReadings
from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass


class SourceWriteError(WorldError):
    """Statuses could not be written to a source; its file is complete, with all that people saved."""


class Sensors(Protocol):
    def read(self) -> MachineReadings: ...


@dataclass(frozen=True, slots=True)
class OtherEngines:
    """What the user's other engines do: slots in use, and refusals by providers with the time they end.

    `waiting` engines have something ready to start but no slot.
    """

    slots: int = 0
    who: str = ""
    waiting: int = 0
    refusals: Mapping[str, float] = field(default_factory=dict)


class SharedState(Protocol):
    """What all engines of one user share: slots, provider refusals, port blocks."""

    @property
    def problem(self) -> str:
        """Why this engine cannot share, for people; empty if it can."""

    def lock(self) -> AbstractContextManager[OtherEngines]:
        """No other engine takes slots while this is held."""

    def record_usage(self, slots: int, pids: Sequence[int], *, waiting: bool = False) -> None:
        """With the lock held: the slots of this engine and their processes (which count on if it dies).

        `waiting`: it has more to start, and asks the others to leave it a share.
        """

    def report_refusal(self, provider: str, until: float) -> None:
        """Tell the other engines that a provider refused."""

    def lease_ports(self, batch: str, task: str) -> range:
        """A block of free ports for a task, the same one each time until it is given back."""

    def release_ports(self, batch: str, task: str) -> None: ...

    def close(self) -> None: ...


class HealthFile(Protocol):
    """What stops the engine from continuing, for clients to read; not in the journal. Never raises."""

    def write(self, what: str) -> None: ...

    def clear(self) -> None: ...


class SleepInhibitor(Protocol):
    """Keeps the machine from going to sleep."""

    @property
    def problem(self) -> str:
        """Why the machine may go to sleep; empty if it is kept awake."""

    def acquire(self) -> None:
        """Calling it twice is the same as once."""

    def release(self) -> None: ...
