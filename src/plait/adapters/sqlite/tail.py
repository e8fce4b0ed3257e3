"""Waiting for what another process writes: no bell rings, so look now and then; looking costs microseconds."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable

SHORTEST = 0.001
LONGEST = 0.05


def wait(connection: sqlite3.Connection, ready: Callable[[], bool], timeout: float) -> bool:
    """Return True as soon as it is ready; ask only after the file has changed."""
    deadline = time.monotonic() + timeout
    pause, seen = SHORTEST, None
    while True:
        version = connection.execute("PRAGMA data_version").fetchone()
        if version != seen:
            if ready():
                return True
            pause, seen = SHORTEST, version
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        time.sleep(min(pause, left))
        pause = min(2 * pause, LONGEST)
