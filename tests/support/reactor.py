"""Running a reactor in a test."""

from __future__ import annotations

import time
from collections.abc import Callable

from plait.runtime.reactor import SelectReactor


def run_until(reactor: SelectReactor, over: Callable[[], bool], timeout: float) -> bool:
    """True as soon as `over` holds, False after the timeout."""
    deadline = time.monotonic() + timeout
    while not over():
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        reactor.step(left)
    return True
