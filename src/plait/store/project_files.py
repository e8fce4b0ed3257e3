"""The only modules that name concrete adapters. This one has what every front needs; the others are for those who read
sources, are the engine, or look after things.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from plait.core.fast_dataclass import dataclass
from plait.git.location import RepoLocation, find_repo

if TYPE_CHECKING:  # what a front needs of these is imported when it is needed: `plait status` is quick
    from plait.engine.daemon import HeldProcess  # noqa: TC004 - a name for type checkers only
    from plait.store.batch_inputs import BatchInputs
    from plait.store.interfaces import Inbox, JournalReader
    from plait.system.state_paths import StateFolder

__all__ = ["EngineInfo", "HeldProcess", "RepoLocation", "find_repo"]

JOURNAL_FILE = "journal.db"
INBOX_FILE = "inbox.db"
LOCKS_FOLDER = "locks"
LOG_FILE = "engine.log"
DOORBELL_FIFO = "doorbell"
HEALTH_FILE = "trouble"
HELD_FLAG = "--held"
MAX_LOG_BYTES = 1 << 20  # bytes; a longer log is put aside when an engine starts


def has_journal(place: RepoLocation) -> bool:
    return os.path.exists(place.state / JOURNAL_FILE)  # noqa: PTH110 - it never raises


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """Who holds the lease, and since when. `trouble` is what keeps it from going on, if anything does."""

    pid: int
    since: float
    trouble: str = ""


def find_engine(place: RepoLocation) -> EngineInfo | None:
    from plait.store import journal_lock  # noqa: PLC0415 - only where there is a journal

    if not has_journal(place) or not journal_lock.is_locked(place.state / JOURNAL_FILE):
        return None
    from plait.engine import daemon__trouble  # noqa: PLC0415

    try:
        beside = journal_lock.find_lock_file(place.state / JOURNAL_FILE)
        pid, since = int(beside.read_text() or 0), beside.stat().st_mtime
        return EngineInfo(pid, since, daemon__trouble.read_health(place.state / HEALTH_FILE))
    except (OSError, ValueError):  # it is about to sign
        return EngineInfo(0, 0.0)


def start_engine(place: RepoLocation) -> int:
    """In a session of its own, so that no terminal ends it; the pid, at once. A second one leaves by itself."""
    from plait.engine.daemon import spawn_daemon  # noqa: PLC0415 - only for whoever starts one

    return spawn_daemon(_build_engine_command(place), place.state / LOG_FILE, max_log_bytes=MAX_LOG_BYTES)


def spawn_held_engine(place: RepoLocation) -> HeldProcess | None:
    """One that is ready to start, and touches nothing until it is told to go."""
    from plait.engine.daemon import spawn_held  # noqa: PLC0415

    return spawn_held([*_build_engine_command(place), HELD_FLAG])


def wait_for_release(place: RepoLocation) -> bool:
    """In such a one: wait for the word."""
    from plait.engine.daemon import wait_for_go_signal  # noqa: PLC0415

    return wait_for_go_signal(place.state / LOG_FILE, max_log_bytes=MAX_LOG_BYTES)


def _build_engine_command(place: RepoLocation) -> list[str]:
    # Nothing that lies in the current folder is imported.
    return [sys.executable, "-P", "-m", "plait.engine", str(place.state), str(place.top)]


def wake_engine(place: RepoLocation) -> None:
    """If nobody hears it, an engine finds the request when it comes."""
    with suppress(OSError):
        fd = os.open(place.state / DOORBELL_FIFO, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.write(fd, b".")
        finally:
            os.close(fd)


def open_project_journal(place: RepoLocation) -> JournalReader:
    """Raises JournalMissingError where nothing was ever submitted."""
    from plait.store.journal_reader import open_journal_reader  # noqa: PLC0415

    return open_journal_reader(place.state / JOURNAL_FILE)


def open_project_inbox(place: RepoLocation) -> Inbox:
    from plait.store.inbox import open_inbox  # noqa: PLC0415

    return open_inbox(place.state / INBOX_FILE)


def find_shared_state_folder() -> Path:
    """What the user's engines share lies there."""
    from platformdirs import user_state_path  # noqa: PLC0415

    return user_state_path("plait") / "commons"


def open_state_paths(place: RepoLocation) -> StateFolder:
    from plait.system.state_paths import StateFolder as Folder  # noqa: PLC0415

    return Folder(place.state)


def save_batch_inputs(
    place: RepoLocation, batch: str, kit: BatchInputs, environment: Mapping[str, str]
) -> None:
    from plait.store import batch_files  # noqa: PLC0415

    batch_files.write_batch_files(open_state_paths(place), batch, kit, environment)


def load_batch_inputs(place: RepoLocation, batch: str) -> BatchInputs:
    """Raises KitError."""
    from plait.store import batch_files  # noqa: PLC0415

    return batch_files.read_batch_inputs(open_state_paths(place), batch)


def is_batch_forgotten(place: RepoLocation, batch: str) -> bool:
    return os.path.lexists(open_state_paths(place).forgotten_marker(batch))


def has_batch_environment(place: RepoLocation, batch: str) -> bool:
    from plait.store import batch_files  # noqa: PLC0415

    return batch_files.has_environment(open_state_paths(place), batch)


def save_batch_environment(place: RepoLocation, batch: str, environment: Mapping[str, str]) -> None:
    from plait.store import batch_files  # noqa: PLC0415

    batch_files.write_batch_environment(open_state_paths(place), batch, environment)
