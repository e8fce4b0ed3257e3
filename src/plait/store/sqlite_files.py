"""Opening the database files, and creating them atomically.

A connection belongs to the thread and the process that opened it.

Changes by other processes are polled for, which costs microseconds.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from plait.store.schema import PAGE_SIZE, SCHEMA_VERSION
from plait.system.atomic_files import fsync_path

Connection = sqlite3.Connection

# Seconds to wait for another process's lock, which is held for a commit or a page of records at most.
BUSY_TIMEOUT_SECONDS = 5.0
MIN_POLL_SECONDS, MAX_POLL_SECONDS = 0.001, 0.05


def find_wal(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def measure_file(path: Path) -> int:
    """Return the size of a file in bytes; 0 if there is no such file."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def make_durable_folder(folder: Path) -> None:
    """Create the folder and its missing parents durably, readable only by their owner."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(mode=0o700, exist_ok=True)
        fsync_path(each.parent)


def connect(path: Path, mode: str, *, timeout: float = BUSY_TIMEOUT_SECONDS) -> Connection:
    """Open a connection. `mode` is SQLite's: "mode=ro", "mode=rw", or "immutable=1", which only reads the file."""
    uri = f"{path.absolute().as_uri()}?{mode}"
    connection = sqlite3.connect(uri, uri=True, timeout=timeout, isolation_level=None)
    # Text as bytes: decoding damaged text must not fail before it has been verified.
    connection.text_factory = bytes
    return connection


# How often each file (device, inode) is open in this process.
_OPEN: Counter[tuple[int, int]] = Counter()


def identify_file(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


def find_identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode of a file; None if there is no such file."""
    try:
        return identify_file(path)
    except FileNotFoundError:
        return None


def count_open(who: tuple[int, int], change: int) -> None:
    _OPEN[who] += change


def is_open(path: Path) -> bool:
    return _OPEN[identify_file(path)] > 0


def make_durable(connection: Connection) -> None:
    """Set the connection so that a commit is on disk when it returns (fullfsync: on macOS too)."""
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")
    connection.execute("PRAGMA checkpoint_fullfsync = ON")


def create_database(path: Path, application: int, tables: str, fill: Callable[[Connection], None]) -> None:
    """Make the file under another name and rename it when it is complete. The caller holds its lock."""
    new = path.with_name(f"{path.name}.new")
    for left_by_a_crash in ("", "-journal", "-wal", "-shm"):
        new.with_name(new.name + left_by_a_crash).unlink(missing_ok=True)
    os.close(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    with closing(connect(new, "mode=rw")) as connection:
        connection.execute("PRAGMA synchronous = OFF")  # once, below, is enough
        connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
        connection.execute("PRAGMA auto_vacuum = NONE")
        connection.execute(f"PRAGMA application_id = {application}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.executescript(f"BEGIN; {tables} COMMIT;")
        fill(connection)
        connection.execute("PRAGMA journal_mode = WAL")
    fsync_path(new)
    new.rename(path)
    fsync_path(path.parent)


def wait_for_change(connection: sqlite3.Connection, ready: Callable[[], bool], timeout: float) -> bool:
    """Return True as soon as it is ready; ask only after the file has changed."""
    deadline = time.monotonic() + timeout
    pause, last_version = MIN_POLL_SECONDS, None
    while True:
        version = connection.execute("PRAGMA data_version").fetchone()
        if version != last_version:
            if ready():
                return True
            pause, last_version = MIN_POLL_SECONDS, version
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            return False
        time.sleep(min(pause, remaining))
        pause = min(2 * pause, MAX_POLL_SECONDS)
