"""Waiting for other threads and processes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

TIMEOUT_SECONDS = 60.0  # only a hang takes that long, also on a busy machine
_POLL_SECONDS = 0.02

T = TypeVar("T")


def wait_until(condition: Callable[[], T], timeout: float = TIMEOUT_SECONDS) -> T:
    """The first true value of the condition. Raises TimeoutError."""
    deadline = time.monotonic() + timeout
    while not (answer := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {timeout:.0f} s for {condition}")
        time.sleep(_POLL_SECONDS)
    return answer
