"""A terminal of its own for one process: what it shows is read, what a person would type is typed."""

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
from pathlib import Path

TERMINAL_TIMEOUT_SECONDS = 60.0
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[=>78]|\x1b\][^\x07]*\x07")


class Terminal:
    """`seen` is all that was ever written to it."""

    def __init__(
        self, words: Sequence[str], *, cwd: Path, env: Mapping[str, str], columns: int = 100, rows: int = 30
    ) -> None:
        self._master, slave = os.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._slave = slave  # kept, so that its modes can be looked at when the process is gone
        self.modes = termios.tcgetattr(slave)
        self.output = ""
        self.process = subprocess.Popen(  # a test's own words
            words,
            cwd=cwd,
            env={**env, "TERM": "xterm", "COLUMNS": str(columns), "LINES": str(rows)},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            # The terminal is the process's own, so that Ctrl+C typed there is a signal to it.
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - no threads here
        )

    @property
    def text(self) -> str:
        """What was written, without what moves the cursor."""
        return _ESCAPES.sub("", self.output)

    def type(self, keys: str) -> None:
        os.write(self._master, keys.encode())

    def wait_for(self, words: str) -> None:
        """Until these words have been shown, from the last `type` on or before it."""
        deadline = time.monotonic() + TERMINAL_TIMEOUT_SECONDS
        while words not in self.text:
            if not self._read(deadline - time.monotonic()):
                raise TimeoutError(f"{words!r} never came: {self.text[-2000:]}")

    def wait(self) -> int:
        """The exit code, with everything read that was written."""
        deadline = time.monotonic() + TERMINAL_TIMEOUT_SECONDS
        while self.process.poll() is None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"it does not end: {self.text[-2000:]}")
            self._read(0.05)
        while self._read(0.0):
            pass
        return self.process.returncode

    @property
    def is_restored(self) -> bool:
        """Whether it is as it was found."""
        return termios.tcgetattr(self._slave) == self.modes

    def hang_up(self) -> None:
        """As if its window had been closed."""
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
        except OSError:  # nobody has it open any more
            return False
        return True
