"""Advisory file locks (flock). The operating system releases them when their holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from plait.system.atomic_files import make_private_folder


@contextmanager
def hold_lock(path: Path, *, shared: bool = False, on_wait: Callable[[], None] | None = None) -> Iterator[None]:
    """Hold a lock file among all threads and processes, however long it takes; `on_wait` is called before waiting."""
    fd = _acquire(path, shared=shared, wait=True, on_wait=on_wait)
    assert fd is not None
    try:
        yield
    finally:
        os.close(fd)


@contextmanager
def try_lock(path: Path, *, shared: bool = False) -> Iterator[bool]:
    """Hold a lock as hold_lock does, but yield False instead of waiting."""
    fd = _acquire(path, shared=shared, wait=False)
    try:
        yield fd is not None
    finally:
        if fd is not None:
            os.close(fd)


def try_lock_folder(folder: Path) -> int | None:
    """Lock a folder itself until the returned descriptor is closed; None if another process holds it."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        if flock_nowait(fd):
            return fd
    except BaseException:
        os.close(fd)
        raise
    os.close(fd)
    return None


def is_folder_locked(folder: Path) -> bool:
    """Whether another process holds the lock of a folder."""
    fd = try_lock_folder(folder)
    if fd is not None:
        os.close(fd)
    return fd is None


def flock_nowait(fd: int, *, shared: bool = False) -> bool:
    """Lock an open file; False if it is locked already."""
    try:
        fcntl.flock(fd, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_same_file(path: Path, fd: int) -> bool:
    """Whether the path still names the open file: a lock on a file that was removed excludes no one."""
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except FileNotFoundError:
        return False


def _acquire(path: Path, *, shared: bool, wait: bool, on_wait: Callable[[], None] | None = None) -> int | None:
    """Return the locked descriptor; None if it is taken and `wait` is false. Starts over if the file is removed."""
    while True:
        make_private_folder(path.parent)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            is_locked = flock_nowait(fd, shared=shared)
            if not is_locked and wait:
                if on_wait is not None:
                    on_wait()
                fcntl.flock(fd, fcntl.LOCK_SH if shared else fcntl.LOCK_EX)
                is_locked = True
            if is_locked and is_same_file(path, fd):
                return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
        if not is_locked:
            return None
