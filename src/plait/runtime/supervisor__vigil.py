"""A vigil: waiting for one warden to end, whether it is a child of ours or an earlier engine's."""

from __future__ import annotations

import os
from collections.abc import Callable

from plait.runtime.supervisor__warden import Supervisor
from plait.store.interfaces import Reactor, Timer
from plait.system import psutil_processes

_FIRST_WATCH_PAUSE, _MAX_WATCH_PAUSE = 0.01, 0.2  # seconds between two looks

ExitCallback = Callable[[int | None], None]


class ExitWatcher:
    """Calls `over` once, with how the warden exited (minus the signal's number) if that is known: it was our child.

    Where the system can't tell by itself that it has ended, it is looked at now and then.
    """

    def __init__(self, reactor: Reactor, supervisor: Supervisor, over: ExitCallback) -> None:
        self._reactor = reactor
        self._pid = supervisor.pid
        self._start = supervisor.start
        self._fd = supervisor.fd
        self._over: ExitCallback | None = over
        self._timer: Timer | None = None
        self._pause = _FIRST_WATCH_PAUSE
        if supervisor.fd is None:
            self._wait()
        else:
            reactor.watch(supervisor.fd, self._ended)

    def stop(self) -> None:
        self._over = None
        if self._timer is not None:
            self._timer.cancel()
        if self._fd is not None:
            self._reactor.unwatch(self._fd)
            os.close(self._fd)
            self._fd = None

    def _wait(self) -> None:
        self._timer = self._reactor.call_later(self._pause, self._look)
        self._pause = min(_MAX_WATCH_PAUSE, self._pause * 1.5)

    def _look(self) -> None:
        code, is_child = _reap(self._pid)
        if code is not None:
            self._notify(code)
        elif is_child or _is_alive(self._pid, self._start):
            self._wait()
        else:
            self._notify(None)

    def _ended(self) -> None:
        self._notify(_reap(self._pid)[0])

    def _notify(self, code: int | None) -> None:
        over = self._over
        self.stop()
        if over is not None:
            over(code)


def _reap(pid: int) -> tuple[int | None, bool]:
    """How our child exited (None: not yet), and whether it is one."""
    try:
        found, status = os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return None, False
    return (os.waitstatus_to_exitcode(status) if found else None), True


def _is_alive(pid: int, start: int) -> bool:
    try:
        process = psutil_processes.read_process(pid)
    except OSError:
        return True  # it can't be seen now; later, perhaps
    return process is not None and not process.is_zombie and process.start == start
