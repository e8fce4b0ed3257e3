"""What plait's own agent processes (model jobs, the contest referee, applied replies) share: errors, output, signals."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import NoReturn

from plait.core.status import Category

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class JobError(Exception):
    """Why a job failed. `status` is the server's; `after`: seconds to wait before trying again."""

    def __init__(
        self,
        message: str,
        category: Category = Category.TASK,
        *,
        status: int | None = None,
        after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.category = category
        self.status = status
        self.after = after


class Terminated(BaseException):
    """A signal asks this process to end. It is raised wherever the code is, so that changes are undone first."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def run_until_signal(run: Callable[[], int]) -> int:
    """The exit status of `run`; after a signal, this process dies by it when `run` has cleaned up."""
    for number in _SIGNALS:
        signal.signal(number, _raise_terminated)
    try:
        return run()
    except Terminated as ended:
        signal.signal(ended.number, signal.SIG_DFL)
        os.kill(os.getpid(), ended.number)
        raise


def _raise_terminated(number: int, _frame: FrameType | None) -> NoReturn:
    for each in _SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    raise Terminated(number)


def write_stdout(data: bytes) -> None:
    """A closed standard output is ignored."""
    left = memoryview(data)
    with suppress(OSError):
        while left:
            left = left[os.write(1, left) :]


def print_event(kind: str, *, redact: Callable[[str], str] = str, **values: object) -> None:
    """One JSON line for `agents.drivers.plait_protocol`."""
    write_stdout(f"{redact(json.dumps({'type': kind, **values}))}\n".encode())
