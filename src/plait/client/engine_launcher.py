"""Start an engine while there is work, but not forever if it keeps exiting."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from plait.core.errors import WorldError
from plait.core.events import Record
from plait.core.reports import MachineReport
from plait.engine import daemon
from plait.git.location import RepoLocation

if TYPE_CHECKING:
    from plait.engine.daemon import HeldProcess

MAX_EXITS = 3
EXIT_WINDOW_SECONDS = 10.0
START_TIMEOUT_SECONDS = 30.0  # an engine that has no lease by then counts as dead
LOG_LINES = 8
LOG_BYTES = 4096

_start: Callable[[RepoLocation], int] = daemon.start_engine


class EngineLauncher:
    """Starts engines. Exits count only while nothing is achieved in between: one that is killed is restarted."""

    def __init__(self, location: RepoLocation) -> None:
        self._location = location
        self._pid: int | None = None
        self._started: float | None = None  # None: none is starting
        self._took_lease = False
        self._exits: list[float] = []
        self._prestarted: HeldProcess | None = None

    def change_checkout(self, location: RepoLocation) -> None:
        """Start engines there from now on."""
        self._location = location

    def prestart(self, process: HeldProcess | None = None) -> None:
        """Start loading an engine, because there will be work, unless `process` is one, or one is running."""
        self._prestarted = self._prestarted or process
        if self._prestarted is None and daemon.find_engine(self._location) is None:
            self._prestarted = daemon.spawn_held_engine(self._location)

    def close(self) -> None:
        if self._prestarted is not None:
            self._prestarted.discard()
            self._prestarted = None

    def handle_record(self, record: Record) -> None:
        if not isinstance(record.event, MachineReport):
            self._exits.clear()

    def ensure_running(self) -> None:
        """Start an engine if none runs, because there is work. Raises WorldError if engines keep exiting."""
        if daemon.find_engine(self._location) is not None:
            self._took_lease = True
            return
        if self._started is not None:
            if not self._took_lease and not self._has_exited():
                return
            self._record_exit()
        self._pid, self._started, self._took_lease = self._launch(), time.monotonic(), False

    def _launch(self) -> int:
        held, self._prestarted = self._prestarted, None
        return held.start() if held is not None else _start(self._location)

    def _has_exited(self) -> bool:
        """Whether the engine that this process started has exited."""
        assert self._started is not None
        if self._pid is None or time.monotonic() - self._started > START_TIMEOUT_SECONDS:
            return True
        try:
            return os.waitpid(self._pid, os.WNOHANG)[0] != 0
        except ChildProcessError:
            return True

    def _record_exit(self) -> None:
        now = time.monotonic()
        self._started = None
        self._exits = [at for at in self._exits if now - at < EXIT_WINDOW_SECONDS] + [now]
        if len(self._exits) >= MAX_EXITS:
            raise self._make_crash_loop_error()

    def _make_crash_loop_error(self) -> WorldError:
        path = self._location.state / daemon.LOG_FILE
        lines = "".join(f"\n    {line}" for line in _read_last_log_lines(path))
        return WorldError(
            f"the engine exited {MAX_EXITS} times within {EXIT_WINDOW_SECONDS:.0f} seconds; no work is lost",
            hint=f"Its log {path} ends with:{lines}" if lines else f"Its log {path} is empty.",
        )


def _read_last_log_lines(path: Path) -> list[str]:
    with suppress(OSError), path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - LOG_BYTES))
        return file.read().decode("utf-8", "replace").splitlines()[-LOG_LINES:]
    return []
