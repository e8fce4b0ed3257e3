"""A difference on a terminal: in colour, by pages, and harmless whatever the files hold."""

from __future__ import annotations

import codecs
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress

from plait.git.command import Git
from plait.git.location import RepoLocation

_HUNK_HEADER = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_INVISIBLE_CHARS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_HEADER_STYLE, _HUNK_STYLE, _ADDED_STYLE, _REMOVED_STYLE, _RESET_STYLE = (
    "\x1b[1m",
    "\x1b[36m",
    "\x1b[32m",
    "\x1b[31m",
    "\x1b[m",
)
MAX_DIFF_LINE_CHARS = 1 << 16  # characters that are held of one line


def reveal_control_chars(text: str) -> str:
    """What would steer a terminal, hide, or turn the reading around, in signs: a reviewer must see that it is there."""
    if text.isascii() and text.isprintable():
        return text
    return _INVISIBLE_CHARS.sub(_format_control_char, text)


def _format_control_char(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20 or code == 0x7F:
        return f"^{chr(code ^ 0x40)}"
    return f"<U+{code:04X}>"


def colorize(pieces: Iterable[bytes]) -> Iterator[str]:
    """Lines for a terminal. Colours are put on here: among git's own, a file's could not be told from them."""
    colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    colorizer, style, begun = _DiffColorizer(), "", False
    for part, whole in _split_lines(pieces):
        style = style if begun else colorizer.get_style(part)
        begun, end = not whole, "\n" if whole else ""
        yield (
            f"{style}{reveal_control_chars(part)}{_RESET_STYLE}{end}"
            if colour and style
            else f"{reveal_control_chars(part)}{end}"
        )


class _DiffColorizer:
    """Knows by a hunk's own count which lines are in it: a removed `-- x` is no header."""

    def __init__(self) -> None:
        self._removed_left = self._added_left = 0

    def get_style(self, line: str) -> str:
        if self._removed_left > 0 or self._added_left > 0:
            return self._get_hunk_style(line[:1])
        if found := _HUNK_HEADER.match(line):
            self._removed_left, self._added_left = (
                1 if many is None else int(many) for many in found.groups()
            )
            return _HUNK_STYLE
        return "" if line.startswith("\\") else _HEADER_STYLE

    def _get_hunk_style(self, sign: str) -> str:
        self._removed_left -= sign in {"-", " "}
        self._added_left -= sign in {"+", " "}
        return {"+": _ADDED_STYLE, "-": _REMOVED_STYLE}.get(sign, "")


def _split_lines(pieces: Iterable[bytes]) -> Iterator[tuple[str, bool]]:
    """Each with whether it ends here: one that is far too long for anybody comes in parts, and fills no memory."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    begun = ""
    for piece in pieces:
        *whole, begun = (begun + decoder.decode(piece)).split("\n")
        yield from ((line, True) for line in whole)
        if len(begun) > MAX_DIFF_LINE_CHARS:
            yield begun, False
            begun = ""
    begun += decoder.decode(b"", final=True)
    if begun:
        yield begun, True


def run_pager(lines: Iterable[str], place: RepoLocation) -> None:
    """Through the pager that git would use here; without one, straight to the terminal."""
    pager = _find_pager(place)
    if not pager:
        sys.stdout.writelines(lines)
        return
    sys.stdout.flush()
    environment = {"LESS": "FRX", "LV": "-c", **os.environ}
    process = subprocess.Popen(["/bin/sh", "-c", pager], stdin=subprocess.PIPE, env=environment)  # noqa: S603 - as git runs it
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is the pager's
    try:
        assert process.stdin is not None
        with suppress(BrokenPipeError), process.stdin as pipe:
            for line in lines:
                pipe.write(line.encode("utf-8", "replace"))
    finally:
        process.wait()
        signal.signal(signal.SIGINT, before)


def _find_pager(place: RepoLocation) -> str:
    said = os.environ.get("GIT_PAGER")
    if said is None:
        told = Git(place.state.parent).run("config", "--get", "core.pager", codes=(0, 1))
        said = told.text if told.code == 0 else os.environ.get("PAGER")
    if said is None:
        from shutil import which  # noqa: PLC0415 - only where nobody chose one

        said = "less" if which("less") else ""
    return "" if said == "cat" else said
