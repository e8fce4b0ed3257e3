"""What all engines of one user share, as files: slots, port blocks, provider refusals. If they fail, an engine runs alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from math import isfinite
from pathlib import Path
from typing import TypeVar

import msgspec

from plait.core.fast_dataclass import dataclass
from plait.system import engine_slots
from plait.system.atomic_files import read_regular_file, replace_file
from plait.system.decoders import decode_json
from plait.system.engine_slots import EngineRegistry, OtherEngine, SharedLock
from plait.system.port_leases import DEFAULT_PORTS, PortLeases

_MAX_NAMED_ENGINES = 3  # engines that `who` names
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OtherEngines:
    """What the user's other engines do: slots in use, and refusals by providers with the time they end.

    `waiting` engines have something ready to start but no slot.
    """

    slots: int = 0
    who: str = ""
    waiting: int = 0
    refusals: Mapping[str, float] = field(default_factory=dict)


class SharedState:
    """What the engines of one user share, as one of them sees it. For one thread. The process must not fork while it is
    open: a child would keep its locks.

    `engine` is its name and identity across crashes, one per state folder. Never raises.
    """

    def __init__(self, folder: Path, *, engine: str, ports: range = DEFAULT_PORTS) -> None:
        self._folder = folder
        self._lock = SharedLock(folder / "lock")
        self._engines = EngineRegistry(folder / "engines", engine)
        self._refusals = ProviderRefusals(folder / "refusals.json", self._engines.id)
        self._leases = PortLeases(folder / "ports", self._engines.id, ports)
        self._failed: dict[str, str] = {}
        with self._locked():
            self._tolerate_errors("entry", None, self._engines.register)

    @property
    def problem(self) -> str:
        """Why this engine cannot share, for people; empty if it can."""
        if self._failed:
            reason = next(iter(self._failed.values()))
            return (
                f"slots and ports are not shared with your other engines, since {self._folder} cannot be used: {reason}"
            )
        if self._lock.stuck_holder:
            return (
                f"process {self._lock.stuck_holder} has held {self._lock.path} for over {engine_slots.LOCK_TIMEOUT_SECONDS:.0f} seconds; "
                "continuing without the lock. It may have been stopped: kill -CONT resumes it"
            )
        return ""

    @contextmanager
    def lock(self) -> Iterator[OtherEngines]:
        """Hold the lock, so that no other engine takes slots meanwhile, and yield what the others do."""
        with self._locked():
            self._tolerate_errors("entry", None, self._engines.register)
            yield self._tolerate_errors("others", OtherEngines(), self._read_others)

    def record_usage(self, slots: int, pids: Sequence[int], *, waiting: bool = False) -> None:
        """Record the slots of this engine and their processes (which count on if it dies); call it with the lock held.

        `waiting`: it has more to start, and asks the others to leave it a share.
        """
        with self._locked():
            self._tolerate_errors("entry", None, lambda: self._engines.hold(slots, pids, waiting=waiting))

    def report_refusal(self, provider: str, until: float) -> None:
        with self._locked():
            self._tolerate_errors("refusals", None, lambda: self._refusals.record(provider, until, time.time()))

    def lease_ports(self, batch: str, task: str) -> range:
        """Return a block of free ports for a task, the same one each time until it is given back."""
        spare = self._tolerate_errors("ports", None, lambda: self._leases.reuse_spare(batch, task))
        if spare is not None:
            return spare
        with self._locked():
            living = self._list_live_engines if self._lock.is_held else None
            leased = self._tolerate_errors("ports", range(0), lambda: self._leases.lease(batch, task, living))
        if self._leases.problem:
            self._failed["ports"] = str(self._leases.problem)
        return leased

    def release_ports(self, batch: str, task: str) -> None:
        self._tolerate_errors("ports", None, lambda: self._leases.give_back(batch, task))

    def close(self) -> None:
        """Release the locks. Leases stay, and so do the slots of attempts that are still running."""
        self._tolerate_errors("ports", None, self._leases.close)
        self._engines.unregister()

    def _read_others(self) -> OtherEngines:
        others = list(self._engines.list_others(clean_up=self._lock.is_held))
        refusals = self._refusals.read_others(time.time(), clean_up=self._lock.is_held)
        busy = sorted((other for other in others if other.slots), key=lambda other: (-other.slots, other.engine))
        waiting = sum(other.waiting for other in others)
        return OtherEngines(sum(other.slots for other in busy), _format_engines(busy), waiting, refusals)

    def _list_live_engines(self) -> set[str]:
        return {other.id for other in self._engines.list_others(clean_up=False)}

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Run with the lock, or without it if it cannot be acquired."""
        self._tolerate_errors("lock", None, self._lock.acquire)
        try:
            yield
        finally:
            self._lock.release()

    def _tolerate_errors(self, name: str, otherwise: T, action: Callable[[], T]) -> T:
        try:
            result = action()
        except OSError as error:
            self._failed[name] = str(error)
            return otherwise
        self._failed.pop(name, None)
        return result


def _format_engines(busy: Sequence[OtherEngine]) -> str:
    named = [f"{other.engine} ({other.slots})" for other in busy[:_MAX_NAMED_ENGINES]]
    unnamed = len(busy) - len(named)
    return ", ".join([*named, *([f"{unnamed} more"] if unnamed else [])])


@dataclass(frozen=True, slots=True)
class ProviderRefusal:
    engine: str
    provider: str
    until: float


class ProviderRefusals:
    """Until when which provider refuses which engine, in one file: a refusal outlasts the engine."""

    def __init__(self, path: Path, engine: str) -> None:
        self._path = path
        self._engine = engine

    def record(self, provider: str, until: float, now: float) -> None:
        """Record a refusal; it replaces an earlier refusal of the same engine by the same provider."""
        if not isfinite(until):
            return
        refusal = ProviderRefusal(self._engine, engine_slots.make_printable(provider), until)
        try:
            current = self._read_current(now)
        except FileNotFoundError:
            current = []
        others = [other for other in current if (other.engine, other.provider) != (refusal.engine, refusal.provider)]
        replace_file(self._path, msgspec.json.encode([*others, refusal]))

    def read_others(self, now: float, *, clean_up: bool) -> dict[str, float]:
        """Return when the other engines' refusals end, by provider; `clean_up` removes an empty file."""
        try:
            current = self._read_current(now)
        except FileNotFoundError:
            return {}
        if clean_up and not current:
            self._path.unlink(missing_ok=True)
        latest: dict[str, float] = {}
        for refusal in current:
            if refusal.engine != self._engine:
                latest[refusal.provider] = max(refusal.until, latest.get(refusal.provider, 0.0))
        return latest

    def _read_current(self, now: float) -> list[ProviderRefusal]:
        return [refusal for refusal in _decode_refusals(read_regular_file(self._path)) if refusal.until > now]


def _decode_refusals(data: bytes) -> list[ProviderRefusal]:
    """Decode the refusals, and skip entries that cannot be decoded."""
    refusals: list[ProviderRefusal] = []
    try:
        raws = decode_json(data, list[msgspec.Raw])
    except engine_slots.DECODE_ERRORS:
        return []
    for raw in raws:
        try:
            refusals.append(decode_json(raw, ProviderRefusal))
        except engine_slots.DECODE_ERRORS:
            continue
    return refusals


def find_shared_state_folder() -> Path:
    """Return the folder that the user's engines share."""
    from platformdirs import user_state_path

    return user_state_path("plait") / "commons"
