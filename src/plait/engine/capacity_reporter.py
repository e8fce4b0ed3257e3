"""Reporting what capacity the machine, the user's other engines and the cluster leave, and jumps of the clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from plait.core.capacity import (
    DEFAULT_LIMITS,
    REMOTE_LIMITS,
    MachineReadings,
    cluster_capacity,
    describe_shortage,
    find_capacity_change,
    list_executors,
    shared_capacity,
    tightest,
)
from plait.core.reports import ClockJumped, PressureChanged, RateLimited, Report
from plait.core.settings import ExecutorKind, MachineLimits
from plait.core.state import State
from plait.core.task import Attempt
from plait.engine.attempts import Attempts
from plait.engine.executors import BatchExecutors
from plait.system.atomic_files import write_private_file
from plait.system.processes import boot_id
from plait.system.shared_state import OtherEngines

CLOCK_FILE = "clock"
CLOCK_JUMP_SECONDS = 1.0  # that the wall clock and the monotonic clock may differ by
MEMORY_CHECK_SECONDS = 5.0  # between two measurements of running attempts


class MachineClock:
    """Compares the wall clock with the machine's monotonic clock, to notice a laptop that slept or a clock that was
    set.

    Both are the same for every process. `file` stores their last readings, so that the next engine notices a jump while
    none ran.
    """

    def __init__(self, file: Path, wall: Callable[[], float] = time.time) -> None:
        self.wall = wall
        self._file = file
        self._offset = wall() - time.monotonic()

    def resume(self) -> None:
        """Compare with an earlier engine's readings, unless the machine was restarted since."""
        with suppress(OSError, ValueError):
            boot, _, offset = self._file.read_text().partition(" ")
            if boot and boot == boot_id():
                self._offset = float(offset)

    def save(self) -> None:
        """Save the readings; call this when the last jump is in the journal."""
        with suppress(OSError):  # then the next engine can't tell
            write_private_file(self._file, f"{boot_id()} {self._offset!r}")

    def report_jump(self) -> Iterator[Report]:
        by = (self.wall() - time.monotonic()) - self._offset
        if abs(by) > CLOCK_JUMP_SECONDS:
            self._offset += by
            yield ClockJumped(by)


class CapacityReporter:
    """Reports capacity. `where` names the watched disk's folder; `disk_full_reason`: why no workspaces are made."""

    def __init__(
        self,
        read_sensors: Callable[[], MachineReadings],
        where: str,
        clock: MachineClock,
        disk_full_reason: Callable[[], str | None] = lambda: None,
        limits: MachineLimits = DEFAULT_LIMITS,
    ) -> None:
        self._read_sensors = read_sensors
        self._limits = limits
        self._disk_full_reason = disk_full_reason
        self.clock = clock
        self._where = where
        self._reading = read_sensors()
        self._other_engines: OtherEngines | None = None
        self._has_new_reading = True  # that was not reported yet
        self._memory_checked_at = time.monotonic()
        self._sizes: Mapping[Attempt, int] = {}
        self._reported_limits: dict[str, float] = {}

    def read_sensors(self, attempts: Attempts) -> None:
        """Read the sensors and, less often, the memory that running attempts use."""
        self._reading, self._has_new_reading = self._read_sensors(), True
        now = time.monotonic()
        if attempts.running and now - self._memory_checked_at >= MEMORY_CHECK_SECONDS:
            self._memory_checked_at = now
            with suppress(OSError):  # keep the last measurement
                self._sizes = attempts.executors.measure_memory()
            for attempt, size in self._sizes.items():
                attempts.record_memory(attempt, size)

    def has_changed(self, other_engines: OtherEngines) -> bool:
        """Whether there is anything new to report."""
        return self._has_new_reading or other_engines != self._other_engines

    def report_changes(self, state: State, other_engines: OtherEngines, executors: BatchExecutors) -> Iterator[Report]:
        """Yield what the state doesn't have yet. A cluster's slots come from its executor."""
        self._has_new_reading, self._other_engines = False, other_engines
        yield from self._report_rate_limits(other_engines)
        # If nothing runs, waiting would free no space.
        disk_full = self._disk_full_reason() if state.slots else None
        kinds = list_executors(state)
        is_local = ExecutorKind.LOCAL in kinds or not kinds
        limits = self._limits if is_local else REMOTE_LIMITS
        why = disk_full or describe_shortage(self._reading, state.pressure, self._where, limits)
        if why != state.pressure:
            yield PressureChanged(why)
        shared = shared_capacity(
            state.settings.parallel_limit if is_local else 0,
            other_engines.slots,
            other_engines.who,
            other_engines.waiting,
        )
        cluster = executors.remote if ExecutorKind.RAY in kinds else None
        slots = cluster.slots if cluster is not None else None
        if cluster is not None and slots is not None:
            shared = tightest(shared, cluster_capacity(slots, cluster.no_slots_reason))
        changed = find_capacity_change(state, self._reading, self._sizes, shared, limits)
        if changed is not None:
            yield changed

    def _report_rate_limits(self, other_engines: OtherEngines) -> Iterator[Report]:
        for provider, until in other_engines.refusals.items():
            if until > max(self._reported_limits.get(provider, 0.0), self.clock.wall()):
                self._reported_limits[provider] = until
                yield RateLimited(provider, until)
