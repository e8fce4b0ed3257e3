"""One plait at a time; it dies with its process."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from plait.system.state_paths import make_private_folder


@contextmanager
def hold_lock(path: Path, on_wait: Callable[[], None]) -> Iterator[None]:
    """However long another one takes: it may be cloning. `waiting` is called before it is waited for."""
    fd = _acquire(path, on_wait)
    try:
        yield
    finally:
        os.close(fd)


def _acquire(path: Path, on_wait: Callable[[], None]) -> int:
    while True:
        make_private_folder(path.parent)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            _flock(fd, on_wait)
            if _still_exists(path, fd):
                return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def _flock(fd: int, on_wait: Callable[[], None]) -> None:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        on_wait()
        fcntl.flock(fd, fcntl.LOCK_EX)


def _still_exists(path: Path, fd: int) -> bool:
    """A lock on a file that somebody removed keeps nobody out."""
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except FileNotFoundError:
        return False
