"""Locks that die with their process, whoever kills it.

One plait at a time; it dies with its process.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from plait.core.errors import WorldError
from plait.system.atomic_files import make_private_folder


@contextmanager
def hold_short_lock(path: Path) -> Iterator[None]:
    """One at a time, among all threads and processes. It is held for moments only, so it is waited for."""
    try:
        make_private_folder(path.parent)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise WorldError(f"{path} can't be locked: {error.strerror}") from error
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def try_lock_folder(folder: Path) -> int | None:
    """A folder's own lock, kept until the descriptor is closed; None if somebody else has it."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        return None
    except BaseException:
        os.close(fd)
        raise
    return fd


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
