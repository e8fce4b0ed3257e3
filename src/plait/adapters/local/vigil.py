"""A vigil: waiting for one warden to end, whether it is a child of ours or an earlier engine's."""

from __future__ import annotations

import os
from collections.abc import Callable

from plait.ports import Reactor, Timer
from plait.site import processes
from plait.site.warden import Warden

_FIRST, _LONGEST = 0.01, 0.2  # seconds between two looks

Over = Callable[[int | None], None]


class Vigil:
    """Calls `over` once, with how the warden exited (minus the signal's number) if that is known: it was our child.

    Where the system can't tell by itself that it has ended, it is looked at now and then.
    """

    def __init__(self, reactor: Reactor, warden: Warden, over: Over) -> None:
        self._reactor = reactor
        self._pid = warden.pid
        self._start = warden.start
        self._fd = warden.fd
        self._over: Over | None = over
        self._timer: Timer | None = None
        self._pause = _FIRST
        if warden.fd is None:
            self._wait()
        else:
            reactor.watch(warden.fd, self._ended)

    def stop(self) -> None:
        self._over = None
        if self._timer is not None:
            self._timer.cancel()
        if self._fd is not None:
            self._reactor.unwatch(self._fd)
            os.close(self._fd)
            self._fd = None

    def _wait(self) -> None:
        self._timer = self._reactor.after(self._pause, self._look)
        self._pause = min(_LONGEST, self._pause * 1.5)

    def _look(self) -> None:
        code, is_child = _reap(self._pid)
        if code is not None:
            self._tell(code)
        elif is_child or _lives(self._pid, self._start):
            self._wait()
        else:
            self._tell(None)

    def _ended(self) -> None:
        self._tell(_reap(self._pid)[0])

    def _tell(self, code: int | None) -> None:
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


def _lives(pid: int, start: int) -> bool:
    try:
        process = processes.look(pid)
    except OSError:
        return True  # it can't be seen now; later, perhaps
    return process is not None and not process.dead and process.start == start
