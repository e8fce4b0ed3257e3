"""A core that never stops deciding would hang the simulator: the watchdog says so instead."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from plait.testing.laws.violation import Violation

MAX_RUN_SECONDS = 20.0  # a run takes a fraction of one


@contextmanager
def limit_run_time() -> Iterator[None]:
    """Only the main thread can be interrupted; elsewhere nobody watches."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def bark(*_: object) -> None:
        raise Violation("hang", f"the core did not come to rest within {MAX_RUN_SECONDS:.0f} seconds")

    before = signal.signal(signal.SIGALRM, bark)
    signal.setitimer(signal.ITIMER_REAL, MAX_RUN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
