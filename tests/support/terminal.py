"""A pseudo-terminal for one process, to read its output and type input."""

from __future__ import annotations

import fcntl
import os
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import psutil

from tests.support.fork_server import ForkedProcess, Order
from tests.support.waiting import TIMEOUT_SECONDS, wait_until

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[=>78]|\x1b\][^\x07]*\x07")


class Terminal:
    """`output` is all that the process wrote."""

    def __init__(
        self, command: Sequence[str] | Order, *, cwd: Path, env: Mapping[str, str], columns: int = 100, rows: int = 30
    ) -> None:
        self._master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._slave = slave  # kept open: its modes are compared after the process has exited
        self.modes = termios.tcgetattr(slave)
        self.output = ""
        self.process = _start(
            command, slave, cwd, {**env, "TERM": "xterm", "COLUMNS": str(columns), "LINES": str(rows)}
        )

    @property
    def text(self) -> str:
        """The output without escape sequences."""
        return _ESCAPES.sub("", self.output)

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def wait_for(self, words: str) -> None:
        """Wait until the output contains these words."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while words not in self.text:
            if not self._read(deadline - time.monotonic()):
                raise TimeoutError(f"no {words!r} in: {self.text[-2000:]}")

    def wait_for_prompt(self, words: str) -> None:
        """Wait until the process waits for an answer: Python loses a Ctrl+C between the prompt and that."""
        self.wait_for(words)
        wait_until(lambda: psutil.Process(self.process.pid).status() == psutil.STATUS_SLEEPING)

    def wait(self) -> int:
        """Wait for the exit and read all output; the exit code."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while self.process.poll() is None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"the process does not exit: {self.text[-2000:]}")
            self._read(0.05)
        while self._read(0.0):
            pass
        return self.process.returncode

    @property
    def is_restored(self) -> bool:
        """Whether the terminal has its first modes."""
        return termios.tcgetattr(self._slave) == self.modes

    def hang_up(self) -> None:
        """Close the terminal as if its window were closed."""
        os.close(self._slave)
        os.close(self._master)
        self._master = self._slave = -1

    def close(self) -> None:
        for fd in (self._master, self._slave):
            if fd >= 0:
                os.close(fd)

    def _read(self, timeout: float) -> bool:
        ready, _, _ = select.select([self._master], [], [], max(0.0, timeout))
        if not ready:
            return False
        try:
            self.output += os.read(self._master, 65536).decode("utf-8", "replace")
        except OSError:  # no process has it open any more
            return False
        return True


def _start(command: Sequence[str] | Order, slave: int, cwd: Path, env: Mapping[str, str]) -> subprocess.Popen[str]:
    """The terminal is the controlling one of the process: Ctrl+C sends it a signal."""
    if isinstance(command, Order):
        order = replace(command, env=env, has_terminal=True)
        return ForkedProcess(order, stdin=slave, stdout=slave, stderr=slave)
    return subprocess.Popen(  # a test's own arguments
        command,
        cwd=cwd,
        env=env,
        text=True,
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - no threads here
    )
