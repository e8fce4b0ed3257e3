"""The thread from which notifications and traces are sent."""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition, Thread


class DeliveryThread:
    """Calls `work` after each `wake`, and again after as many seconds as it returned; None: not before the next `wake`.

    It starts with the first `wake`. `work` must not raise.
    """

    def __init__(self, name: str, work: Callable[[], float | None]) -> None:
        self._name, self._work = name, work
        self._changed = Condition()
        self._woken = False
        self._thread: Thread | None = None
        self.is_stopping = False

    @property
    def has_started(self) -> bool:
        return self._thread is not None

    def wake(self) -> None:
        with self._changed:
            self._woken = True
            self._changed.notify()
        if self._thread is None and not self.is_stopping:
            self._thread = Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Don't call `work` again; a call in progress continues."""
        with self._changed:
            self.is_stopping = True
            self._changed.notify()

    def join(self, timeout: float) -> bool:
        """Wait for the thread's end; return False if that takes longer."""
        if self._thread is not None:
            self._thread.join(timeout)
        return self._thread is None or not self._thread.is_alive()

    def _run(self) -> None:
        pause: float | None = None
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._woken or self.is_stopping, pause)
                if self.is_stopping:
                    return
                self._woken = False
            pause = self._work()
