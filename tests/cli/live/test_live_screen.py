"""The screen: drawn on a small glass, and on a real terminal by a process that owns it."""

from __future__ import annotations

import fcntl
import importlib.util
import io
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given, strategies as st
from rich.console import Console

from plait.cli.live.screen import Screen, make_painter
from plait.cli.live.terminal_style import StyledLine
from tests.support.waiting import TIMEOUT_SECONDS

HERE = Path(__file__).parent

_spec = importlib.util.spec_from_file_location("plait_glass", HERE / "glass.py")
assert _spec is not None
assert _spec.loader is not None
_glass = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_glass)
Glass = _glass.Glass

STYLES = st.sampled_from(["", "bold", "red", "dim"])
LINES = st.lists(
    st.lists(st.tuples(st.text("abc │▶", min_size=1, max_size=5), STYLES), min_size=1, max_size=4).map(tuple),
    max_size=8,
)


def screen_on(glass: object, **more: object) -> Screen:
    settings: dict[str, object] = {
        "force_terminal": True,
        "color_system": "standard",
        "width": 20,
        "height": 20,
    }
    return Screen(Console(file=glass, **settings | more))  # type: ignore[arg-type]  # a glass can be written to


def text(lines: list[StyledLine]) -> list[str]:
    return ["".join(piece for piece, _ in line).rstrip() for line in lines]


def without_end(rows: list[str]) -> list[str]:
    while rows and not rows[-1]:
        rows = rows[:-1]
    return rows


@given(st.lists(LINES, min_size=1, max_size=6))
def test_the_screen_shows_the_last_frame_whatever_was_drawn_before(frames: list[list[StyledLine]]) -> None:
    glass = Glass(20, "$ plait run", "a plan")
    screen = screen_on(glass)
    with screen:
        for lines in frames:
            screen.draw(lines)
            assert glass.rows == without_end(["$ plait run", "a plan", *text(lines)])
        assert not glass.cursor
    assert glass.cursor


def test_clearing_a_frame_keeps_the_lines_above() -> None:
    glass = Glass(20, "$ plait run")
    screen = screen_on(glass)
    with screen:
        screen.draw([(("one", ""),), (("two", "bold"),)])
        screen.clear()
    glass.write("the end\n")
    assert glass.rows == ["$ plait run", "the end"]


def test_an_unchanged_frame_is_not_written_again() -> None:
    out = io.StringIO()
    screen = screen_on(out)
    screen.draw([(("one", ""),), (("two", ""),)])
    sent = len(out.getvalue())
    screen.draw([(("one", ""),), (("two", ""),)])
    assert len(out.getvalue()) == sent
    screen.draw([(("one", ""),), (("TWO", ""),)])
    assert "one" not in out.getvalue()[sent:]
    assert "TWO" in out.getvalue()[sent:]


def test_no_color_disables_colours() -> None:
    line = (("word", "bold red"),)
    assert make_painter(Console(force_terminal=True, color_system="standard"))(line) == "\x1b[1;31mword\x1b[0m"
    assert (
        make_painter(Console(force_terminal=True, color_system="standard", no_color=True))(line) == "\x1b[1mword\x1b[0m"
    )
    assert make_painter(Console(force_terminal=True, color_system=None))(line) == "word"


def test_text_after_non_ascii_characters_is_positioned_explicitly() -> None:
    paint = make_painter(Console(force_terminal=True, color_system=None))
    assert paint((("👩‍💻 ", ""), ("│", ""))) == "👩‍💻 \x1b[4G│"
    assert paint((("plain", ""), ("│", ""))) == "plain│"


class Terminal:
    """The actor's terminal, from the other side."""

    def __init__(self, folder: Path) -> None:
        self.fd, self.inner = pty.openpty()
        self.resize(80)
        self.before = termios.tcgetattr(self.inner)
        environment = os.environ | {"TERM": "xterm-256color", "PYTHONPATH": "src"}
        self.actor = subprocess.Popen(
            [sys.executable, str(HERE / "actor.py"), str(folder)],
            stdin=self.inner,
            stdout=self.inner,
            stderr=self.inner,
            start_new_session=True,
            env=environment,
        )
        self.seen = ""

    def resize(self, width: int) -> None:
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))

    def type(self, keys: str) -> None:
        os.write(self.fd, keys.encode())

    def until(self, pattern: str, after: int = 0) -> int:
        """Where that stands in what was seen; `after` so much of it."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while (found := re.compile(pattern).search(self.seen, after)) is None:
            assert time.monotonic() < deadline, self.seen[after:]
            self._read()
        return found.end()

    def end(self) -> int:
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while self.actor.poll() is None:
            assert time.monotonic() < deadline, self.seen
            self._read()
        while self._read():
            pass
        return self.actor.returncode

    def _read(self) -> bool:
        ready, _, _ = select.select([self.fd], [], [], 0.05)
        if ready:
            self.seen += os.read(self.fd, 65536).decode()
        return bool(ready)


@contextmanager
def terminal(folder: Path) -> Iterator[Terminal]:
    shown = Terminal(folder)
    try:
        yield shown
    finally:
        if shown.actor.poll() is None:
            shown.actor.kill()
        shown.actor.wait()
        os.close(shown.fd)
        os.close(shown.inner)


def restored(shown: Terminal) -> None:
    assert termios.tcgetattr(shown.inner) == shown.before
    modes = re.findall(r"\x1b\[\?(?:25|7|2026)[hl]", shown.seen)
    last = {mode[:-1]: mode[-1] for mode in modes}
    assert last == {"\x1b[?25": "h", "\x1b[?7": "h", "\x1b[?2026": "l"}


def test_the_last_page_replaces_the_frame(tmp_path: Path) -> None:
    with terminal(tmp_path) as shown:
        shown.until("01-first")
        assert not termios.tcgetattr(shown.inner)[3] & (termios.ICANON | termios.ECHO)
        shown.type("q")
        assert shown.end() == 0
        assert shown.seen.rstrip().endswith("the last page")
        restored(shown)


def test_the_terminal_is_restored_after_an_error(tmp_path: Path) -> None:
    with terminal(tmp_path) as shown:
        shown.until("01-first")
        shown.type("a")
        assert shown.end() == 1
        assert "an error inside" in shown.seen
        restored(shown)


def test_the_terminal_is_restored_after_ctrl_c(tmp_path: Path) -> None:
    with terminal(tmp_path) as shown:
        shown.until("01-first")
        shown.type("\x03")
        assert shown.end() in {130, -signal.SIGINT}
        restored(shown)


def test_a_frame_adapts_to_the_terminals_width(tmp_path: Path) -> None:
    with terminal(tmp_path) as shown:
        wide = shown.until(r"╰─{78}╯")
        shown.resize(50)
        narrow = shown.until(r"╰─{48}╯", wide)
        shown.resize(100)
        shown.until(r"╰─{98}╯", narrow)
        shown.type("d")
        assert shown.end() == 0
        restored(shown)


def test_the_question_mark_toggles_help_and_arrow_keys_are_ignored(tmp_path: Path) -> None:
    with terminal(tmp_path) as shown:
        at = shown.until("p pause · d detach")
        shown.type("\x1b[A")
        shown.type("?")
        at = shown.until("hide this", at)
        shown.type("?")
        shown.until("p pause · d detach", at)
        shown.type("q")
        assert shown.end() == 0


def test_ctrl_z_restores_the_terminal_and_the_display_returns(tmp_path: Path) -> None:
    with terminal(tmp_path) as shown:
        at = shown.until("p pause · d detach")
        # Only a member of an orphaned group could not be stopped: the actor has no shell above it, so it goes on at once.
        os.kill(shown.actor.pid, signal.SIGTSTP)
        at = shown.until(r"\x1b\[\?25h", at)
        at = shown.until(r"\x1b\[\?25l", at)
        shown.until("01-first", at)
        shown.type("q")
        assert shown.end() == 0
        restored(shown)
