"""The cursor: up to which record of a journal all spans have arrived. The next engine goes on there."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


class TraceCursor:
    """A file. If it is lost, or can't be written, some spans are told twice or not at all; nothing else hangs on it."""

    def __init__(self, path: Path, journal: str) -> None:
        self._path, self._journal = path, journal

    def read(self) -> int | None:
        """None: nothing of this journal was ever told."""
        try:
            journal, seq = self._path.read_text().split()
            return int(seq) if journal == self._journal else None
        except (OSError, ValueError):
            return None

    def write(self, seq: int) -> None:
        fresh = self._path.with_suffix(".new")
        with suppress(OSError):
            fresh.write_text(f"{self._journal} {seq}\n")
            os.replace(fresh, self._path)  # noqa: PTH105 - by rename, so that it is whole
