"""Draw frames in place below what the terminal shows, writing only changed lines; read keys without waiting."""

from __future__ import annotations

import os
import re
import select
import signal
import sys
import termios
import threading
import time
import tty
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from types import FrameType
from typing import TYPE_CHECKING, Self, TextIO

from rich.cells import cell_len
from rich.color import ColorSystem
from rich.style import Style

from plait.cli.live.terminal_style import StyledLine

if TYPE_CHECKING:
    from rich.console import Console


_HIDE_CURSOR, _SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"


# Synchronized update, where the terminal supports it, with line wrapping off.
_BEGIN_UPDATE, _END_UPDATE = "\x1b[?2026h\x1b[?7l", "\x1b[?7h\x1b[?2026l"
_CLEAR_LINE, _CLEAR_BELOW = "\x1b[K", "\x1b[J"


class Screen:
    """Draws frames. On exit the cursor and the terminal's modes are restored, whatever happened.

    The cursor stays at the beginning of the line below the frame.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._out = console.file
        self.keys = KeyReader(sys.stdin)
        self._paint = make_painter(console)
        self._drawn: list[StyledLine] = []
        self._size = self.get_size()
        self._previous_handler: Callable[[int, FrameType | None], object] | int | None = None

    def __enter__(self) -> Self:
        self.keys.enable()
        self._write(_HIDE_CURSOR)
        if threading.current_thread() is threading.main_thread():
            self._previous_handler = signal.signal(signal.SIGTSTP, self._suspend)
        return self

    def __exit__(self, *_: object) -> None:
        if self._previous_handler is not None:
            signal.signal(signal.SIGTSTP, self._previous_handler)
            self._previous_handler = None
        self.keys.restore()
        self._write(_END_UPDATE + _SHOW_CURSOR)  # drawing may have been interrupted

    def get_size(self) -> tuple[int, int]:
        """Return columns and lines, as they are now."""
        try:
            size = os.get_terminal_size(self._out.fileno())
        except (OSError, ValueError):
            size = os.terminal_size(self._console.size)
        return max(1, size.columns or 80), max(1, size.lines or 24)

    def draw(self, lines: Sequence[StyledLine]) -> None:
        """Replace the last frame with this one; does nothing in the background."""
        if not self._may_draw():
            return
        size = self.get_size()
        if size != self._size:
            self._write(self._erase(size[0]))
            self._size = size
        self._write(self._render_changes(list(lines)))

    def clear(self) -> None:
        """Erase the frame, so that the next output starts where it was."""
        if self._may_draw():
            self._write(self._erase(self.get_size()[0]))

    def _render_changes(self, lines: list[StyledLine]) -> str:
        if lines == self._drawn:
            return ""
        parts = [_BEGIN_UPDATE, _move_up(len(self._drawn))]
        for row, line in enumerate(lines):
            if row < len(self._drawn) and line == self._drawn[row]:
                parts.append("\n")
            else:
                rest = _CLEAR_LINE if _measure(line) < self._size[0] else ""
                parts.append(f"\r{self._paint(line)}{rest}\n")
        if len(lines) < len(self._drawn):
            parts.append(_CLEAR_BELOW)
        parts.append(_END_UPDATE)
        self._drawn = lines
        return "".join(parts)

    def _erase(self, width: int) -> str:
        """Erase the frame, counting the lines that a narrower terminal has wrapped."""
        rows = sum(max(1, -(-_measure(line) // width)) for line in self._drawn)
        self._drawn = []
        return f"\r{_move_up(rows)}{_CLEAR_BELOW}" if rows else ""

    def _may_draw(self) -> bool:
        try:
            fd = self._out.fileno()
        except (OSError, ValueError):
            return True
        return not os.isatty(fd) or is_foreground(fd)

    def _write(self, text: str) -> None:
        """Write and flush; a closed terminal is ignored, because the batch is still followed."""
        if text:
            with suppress(OSError, ValueError):
                self._out.write(text)
                self._out.flush()

    def _suspend(self, _number: int, _frame: FrameType | None) -> None:
        """Handle Ctrl+Z: restore the terminal, stop the process, and set the terminal up again when it continues."""
        self.keys.restore()
        with suppress(OSError, ValueError):
            os.write(self._out.fileno(), (_END_UPDATE + _SHOW_CURSOR).encode())
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._suspend)
        self.keys.enable()
        self._drawn = []  # the shell has written below the old frame, so the next one starts there
        with suppress(OSError, ValueError):
            os.write(self._out.fileno(), _HIDE_CURSOR.encode())


def make_painter(console: Console) -> Callable[[StyledLine], str]:
    """Make the function that turns a line into escape sequences, without colours if the terminal has or wants none."""
    system = None if console.color_system is None else ColorSystem.STANDARD  # the styles use no others

    @lru_cache(maxsize=64)
    def style(name: str) -> Style:
        parsed = Style.parse(name)
        return parsed.without_color if console.no_color else parsed

    def paint(line: StyledLine) -> str:
        """Position what follows non-ASCII text explicitly: terminals disagree on character widths."""
        parts: list[str] = []
        column, sure = 1, True
        for text, name in line:
            parts.append("" if sure else f"\x1b[{column}G")
            parts.append(style(name).render(text, color_system=system) if name else text)
            column += cell_len(text)
            sure = text.isascii()
        return "".join(parts)

    return paint


def _move_up(rows: int) -> str:
    return f"\x1b[{rows}A" if rows else ""


def _measure(line: StyledLine) -> int:
    return sum(cell_len(text) for text, _ in line)


_READ_BYTES = 256
_LFLAG_INDEX = 3
_KEY = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]?|O.?|.?)|.", re.DOTALL)  # an escape sequence, or one character
_NAMED_KEYS = {
    **{b"\x1b" + start + end: name for start in (b"[", b"O") for end, name in ((b"A", "up"), (b"B", "down"))},
    **{b"\x1b" + start + end: name for start in (b"[", b"O") for end, name in ((b"H", "home"), (b"F", "end"))},
    b"\x1b[1~": "home",
    b"\x1b[4~": "end",
    b"\x1b[5~": "pageup",
    b"\x1b[6~": "pagedown",
}


class KeyReader:
    """Reads single keys from the terminal; Ctrl+C and Ctrl+Z stay signals. `restore` undoes every change."""

    def __init__(self, source: TextIO) -> None:
        self._fd = _find_terminal_fd(source)
        self._saved: list[object] | None = None

    @property
    def is_available(self) -> bool:
        return self._fd is not None

    def enable(self) -> None:
        """Switch to unbuffered input without echo; does nothing in the background."""
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

    def read(self, timeout: float = 0.0) -> list[str]:
        """Return the keys typed since the last call, or within `timeout`: characters, and the names of arrow and page
        keys.

        Other escape sequences are ignored.
        """
        if self._fd is None:
            return []
        if not is_foreground(self._fd):
            time.sleep(timeout)
            return []
        self.enable()  # a shell may have reset the modes meanwhile
        try:
            ready, _, _ = select.select([self._fd], [], [], timeout)
            typed = os.read(self._fd, _READ_BYTES) if ready else None
        except OSError:
            typed = b""
        if typed == b"":  # it was closed
            self._fd = None
        keys = (_NAMED_KEYS.get(key, key.decode("ascii", "ignore")) for key in _KEY.findall(typed or b""))
        return [key for key in keys if key in {"\r", "\n"} or (key and key.isprintable())]


def is_foreground(fd: int) -> bool:
    """Whether this process is in the terminal's foreground group."""
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
