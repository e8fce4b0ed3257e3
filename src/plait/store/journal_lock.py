"""The journal's lease: a lock for its one writer, released by the operating system when the writer dies.

The lock belongs to the open file, so a process forked without exec would share it: don't fork while it is held.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.store import error_mapping, sqlite_files
from plait.store.interfaces import JournalBusyError
from plait.system import flock

# `is_locked` holds the lock for an instant; a writer waits that long.
LOCK_TIMEOUT_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class JournalLock:
    fd: int

    def release(self) -> None:
        try:
            with suppress(OSError):  # the pid in it is only for people
                os.ftruncate(self.fd, 0)
        finally:
            os.close(self.fd)


def find_lock_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.lock")


def acquire_lock(path: Path) -> JournalLock:
    """Take the lock; raises JournalBusyError, which names the process that holds it."""
    with error_mapping.map_write_errors(path):
        while True:
            fd = _open(path)
            try:
                _wait(path, fd)
                if flock.is_same_file(find_lock_file(path), fd):
                    _write_pid(fd)
                    return JournalLock(fd)
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)  # the file was removed, so the lock on it excludes no one


def _wait(path: Path, fd: int) -> None:
    began = time.monotonic()
    while not flock.flock_nowait(fd):
        holder, waited = _read_pid(fd), time.monotonic() - began
        # The pid may be of a process that died; a process counts as the writer only if it also holds the lock.
        if waited > LOCK_TIMEOUT_SECONDS or (waited > LOCK_TIMEOUT_SECONDS / 10 and holder and _is_alive(holder)):
            raise JournalBusyError(
                f"the journal {path} is being written by {f'process {holder}' if holder else 'another process'}",
                hint="a journal has one writer: ask the engine that runs already, or stop it first",
            )
        time.sleep(0.005)


def is_still_held(path: Path, held: JournalLock) -> bool:
    """Whether the lock still excludes other writers; it doesn't if its file was removed."""
    return flock.is_same_file(find_lock_file(path), held.fd)


def _write_pid(fd: int) -> None:
    with suppress(OSError):  # the pid is only for people, and the disk may be full
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)


def is_locked(path: Path) -> bool:
    """Whether the journal has a writer now."""
    try:
        fd = os.open(find_lock_file(path), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return not flock.flock_nowait(fd, shared=True)
    finally:
        os.close(fd)


def _open(path: Path) -> int:
    sqlite_files.make_durable_folder(path.parent)
    return os.open(find_lock_file(path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _read_pid(fd: int) -> int | None:
    """Return the writer's pid; None if it has not written it yet, or died before."""
    text = os.pread(fd, 32, 0).strip()
    return int(text) if text.isdigit() else None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # another user's process
    return True
