"""Trouble: what keeps an engine from going on, in a file that fronts look at.

It is no record: the journal that it would stand in is what can't be written. So the file has its room on the disk from the
engine's first moment on, and is written over in place.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from plait.system.state_paths import make_private_folder

HEALTH_FILE_BYTES = 1024  # bytes; a page or less is never written in part


class EngineHealthFile:
    """A Trouble. Where it can't be told, nothing else suffers from it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.clear()

    def write(self, what: str) -> None:
        self._write(what.encode("utf-8", "replace")[:HEALTH_FILE_BYTES].ljust(HEALTH_FILE_BYTES))

    def clear(self) -> None:
        self._write(b" " * HEALTH_FILE_BYTES)

    def _write(self, data: bytes) -> None:
        with suppress(OSError):
            make_private_folder(self._path.parent)
            fd = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                os.pwrite(fd, data, 0)
            finally:
                os.close(fd)


def read_health(path: Path) -> str:
    """Empty if there is none. It is an engine's only while that engine lives: one that was killed could not clear it."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return ""
    try:
        return os.read(fd, HEALTH_FILE_BYTES).decode("utf-8", "ignore").strip()
    except OSError:
        return ""
    finally:
        os.close(fd)
