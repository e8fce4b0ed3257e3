"""One plait at a time writes a file. Other programs know nothing of this lock, and nothing relies on their knowing."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from plait.store.interfaces import SourceWriteError

# Another plait holds it for as long as one write takes: moments, or a second or two when others write too.
_LOCK_ATTEMPTS = 600
_LOCK_POLL_SECONDS = 0.05


@contextmanager
def hold_file_lock(
    lock: Path, path: Path, pause: Callable[[float], None], lost: str = "no status was written"
) -> Iterator[None]:
    """Raise SourceWriteError if it can't be had in half a minute."""
    lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fd = _acquire(lock, pause)
    if fd is None:
        raise SourceWriteError(
            f"another plait has been writing {path} for {_LOCK_ATTEMPTS * _LOCK_POLL_SECONDS:.0f} seconds: {lost}",
            hint=f"look for a plait that hangs; the lock is {lock}",
        )
    try:
        yield
    finally:
        os.close(fd)


def _acquire(lock: Path, pause: Callable[[float], None]) -> int | None:
    for _ in range(_LOCK_ATTEMPTS):
        fd = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_current(lock, fd):
                return fd
        except BlockingIOError:
            pass
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)
        pause(_LOCK_POLL_SECONDS)
    return None


def _is_current(lock: Path, fd: int) -> bool:
    """A lock on a file that somebody removed keeps nobody out."""
    try:
        return os.path.samestat(os.fstat(fd), lock.stat())
    except FileNotFoundError:
        return False
