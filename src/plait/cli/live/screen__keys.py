"""Keys: single letters from the terminal as they are typed, without waiting for any."""

from __future__ import annotations

import os
import re
import select
import termios
import tty
from typing import TextIO

_READ_BYTES = 256  # bytes at a time; nobody types more
_LFLAG_INDEX = 3
_ESCAPE_SEQUENCE = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]?|O.?|.?)")  # what an arrow sends


class KeyReader:
    """Every change to the terminal is undone by `restore`. Ctrl+C and Ctrl+Z stay signals."""

    def __init__(self, source: TextIO) -> None:
        self._fd = _find_terminal_fd(source)
        self._saved: list[object] | None = None

    @property
    def is_available(self) -> bool:
        return self._fd is not None

    def enable(self) -> None:
        """Letters come one by one from now on, and are not shown. In the background nothing is touched."""
        if self._fd is None or not is_foreground(self._fd):
            return
        try:
            modes = termios.tcgetattr(self._fd)
            if not modes[_LFLAG_INDEX] & termios.ICANON:
                return
            self._saved = modes
            tty.setcbreak(self._fd, termios.TCSANOW)
        except (termios.error, OSError):
            self._fd = None

    def restore(self) -> None:
        saved, self._saved = self._saved, None
        if self._fd is None or saved is None or not is_foreground(self._fd):
            return
        try:
            termios.tcsetattr(self._fd, termios.TCSANOW, saved)  # type: ignore[arg-type]  # as tcgetattr gave it
        except (termios.error, OSError):
            self._fd = None  # the terminal is gone

    def read(self) -> list[str]:
        """What was typed since the last time. Keys that send several letters (arrows) are passed over."""
        if self._fd is None or not is_foreground(self._fd):
            return []
        self.enable()  # a shell that had the terminal in the meantime has left its own modes
        try:
            ready, _, _ = select.select([self._fd], [], [], 0)
            typed = os.read(self._fd, _READ_BYTES) if ready else None
        except OSError:
            typed = b""
        if typed == b"":  # it was closed
            self._fd = None
        letters = _ESCAPE_SEQUENCE.sub(b"", typed or b"").decode("ascii", "ignore")
        return [letter for letter in letters if letter.isprintable() or letter in "\r\n"]


def is_foreground(fd: int) -> bool:
    """Whether this process may use the terminal: it was not sent into the background."""
    try:
        return os.tcgetpgrp(fd) == os.getpgrp()
    except OSError:
        return False


def _find_terminal_fd(source: TextIO) -> int | None:
    try:
        fd = source.fileno()
    except (OSError, ValueError):
        return None
    return fd if os.isatty(fd) else None
