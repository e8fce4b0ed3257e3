"""Waiting for what another process writes: no bell rings, so look now and then; looking costs microseconds."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable

MIN_POLL_SECONDS = 0.001
MAX_POLL_SECONDS = 0.05


def wait_for_change(connection: sqlite3.Connection, ready: Callable[[], bool], timeout: float) -> bool:
    """Return True as soon as it is ready; ask only after the file has changed."""
    deadline = time.monotonic() + timeout
    pause, seen = MIN_POLL_SECONDS, None
    while True:
        version = connection.execute("PRAGMA data_version").fetchone()
        if version != seen:
            if ready():
                return True
            pause, seen = MIN_POLL_SECONDS, version
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(pause, left))
        pause = min(2 * pause, MAX_POLL_SECONDS)
