"""One writer: a lock that the operating system gives back when its holder dies, however it dies.

The lock belongs to the open file, so a process forked without exec shares it: nobody forks while writing a journal.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.store import error_mapping, sqlite_files
from plait.store.interfaces import JournalBusyError
from plait.system import locks

# A reader that asks whether anybody writes holds the lock for an instant; a writer waits that long for it.
LOCK_TIMEOUT_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class JournalLock:
    fd: int

    def release(self) -> None:
        try:
            with suppress(OSError):  # the name in it is only for people
                os.ftruncate(self.fd, 0)
        finally:
            os.close(self.fd)


def find_lock_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.lock")


def acquire_lock(path: Path) -> JournalLock:
    """Raise JournalBusyError, naming the process that has it."""
    with error_mapping.map_write_errors(path):
        while True:
            fd = _open(path)
            try:
                _wait(path, fd)
                if locks.is_same_file(find_lock_file(path), fd):
                    _write_pid(fd)
                    return JournalLock(fd)
            except BaseException:
                os.close(fd)
                raise
            os.close(fd)  # somebody removed the file: the lock on it keeps nobody out


def _wait(path: Path, fd: int) -> None:
    began = time.monotonic()
    while not locks.flock_nowait(fd):
        holder, waited = _read_pid(fd), time.monotonic() - began
        # A name may be left from a process that died; only who also holds on is taken for the writer.
        if waited > LOCK_TIMEOUT_SECONDS or (waited > LOCK_TIMEOUT_SECONDS / 10 and holder and _is_alive(holder)):
            raise _build_busy_error(path, holder)
        time.sleep(0.005)


def is_still_held(path: Path, held: JournalLock) -> bool:
    """A lock on a file that was removed keeps nobody out."""
    return locks.is_same_file(find_lock_file(path), held.fd)


def _write_pid(fd: int) -> None:
    with suppress(OSError):  # the name is only for people, and a full disk has no room for it
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)


def is_locked(path: Path) -> bool:
    """Whether somebody writes this journal now."""
    try:
        fd = os.open(find_lock_file(path), os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return not locks.flock_nowait(fd, shared=True)
    finally:
        os.close(fd)


def _open(path: Path) -> int:
    sqlite_files.make_durable_folder(path.parent)
    return os.open(find_lock_file(path), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def _read_pid(fd: int) -> int | None:
    """None while a writer is about to write its name, or has died without one."""
    text = os.pread(fd, 32, 0).strip()
    return int(text) if text.isdigit() else None


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass  # somebody else's
    return True


def _build_busy_error(path: Path, holder: int | None) -> JournalBusyError:
    who = f"process {holder}" if holder else "another process"
    return JournalBusyError(
        f"the journal {path} is being written by {who}",
        hint="a journal has one writer: ask the engine that runs already, or stop it first",
    )
