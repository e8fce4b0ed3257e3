"""Keeps the machine awake while agents run.

A system program inhibits sleep for as long as its child runs, and that child is a `cat` that reads from a pipe. The engine
holds the other end: when it releases it, or dies, all of it ends.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from threading import Thread

_LINUX = (
    "systemd-inhibit",
    "--what=idle:sleep",
    "--who=plait",
    "--why=a batch is running",
    "--mode=block",
    "cat",
)
_MACOS = ("caffeinate", "-i", "cat")
_COMMAND = _MACOS if sys.platform == "darwin" else _LINUX


class SleepInhibitor:
    """Keeps the machine awake between `acquire` and `release`, where the system can; `problem` says why not."""

    def __init__(self, *, enabled: bool) -> None:
        self._enabled = enabled
        self._process: subprocess.Popen[bytes] | None = None
        self._failed = ""

    @property
    def problem(self) -> str:
        """Why the machine may go to sleep although sleep is inhibited; empty otherwise."""
        if self._process and self._process.returncode is not None:
            return f"{_COMMAND[0]} exited with status {self._process.returncode}"
        return self._failed

    def acquire(self) -> None:
        """Inhibit sleep. Calling this twice is the same as once; a failure is tried again only after a release."""
        if not self._enabled or self._process or self._failed:
            return
        if shutil.which(_COMMAND[0]) is None:
            self._failed = f"there is no {_COMMAND[0]} here"
            return
        try:
            process = _start_process()
        except OSError as error:
            self._failed = f"{_COMMAND[0]} could not be started: {error}"
            return
        self._process = process
        # This thread waits for the program's exit, so that no zombie is left and no one has to poll.
        Thread(target=process.wait, name="awake", daemon=True).start()

    def release(self) -> None:
        process, self._process, self._failed = self._process, None, ""
        if process and process.stdin:
            process.stdin.close()


def _start_process() -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # words of our own
        _COMMAND,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd="/",
        # In a session of its own it can't prompt for a password on the terminal, and isn't hit by a Ctrl+C there.
        start_new_session=True,
    )
