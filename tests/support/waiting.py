"""Waiting for other threads and processes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

TIMEOUT_SECONDS = 120.0  # only a hang takes that long, also on a busy machine
_MIN_POLL_SECONDS, _MAX_POLL_SECONDS = 0.01, 0.2

T = TypeVar("T")


def wait_until(condition: Callable[[], T], timeout: float = TIMEOUT_SECONDS) -> T:
    """The first true value of the condition. Raises TimeoutError."""
    start = time.monotonic()
    while not (answer := condition()):
        waited = time.monotonic() - start
        if waited > timeout:
            raise TimeoutError(f"waited {timeout:.0f} s for {condition}")
        # A condition may cost more than the wait: the longer it takes, the less often it is asked.
        time.sleep(min(max(_MIN_POLL_SECONDS, waited / 10), _MAX_POLL_SECONDS))
    return answer
