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

from plait.site.git import Git
from plait.wiring import Place

_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_HEAD, _PLACE, _PLUS, _MINUS, _END = "\x1b[1m", "\x1b[36m", "\x1b[32m", "\x1b[31m", "\x1b[m"
LONGEST = 1 << 16  # characters that are held of one line


def visible(text: str) -> str:
    """What would steer a terminal, hide, or turn the reading around, in signs: a reviewer must see that it is there."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSEEN.sub(_sign, text)


def _sign(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20 or code == 0x7F:
        return f"^{chr(code ^ 0x40)}"
    return f"<U+{code:04X}>"


def tinted(pieces: Iterable[bytes]) -> Iterator[str]:
    """Lines for a terminal. Colours are put on here: among git's own, a file's could not be told from them."""
    colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    ink, style, begun = _Ink(), "", False
    for part, whole in _lines(pieces):
        style = style if begun else ink.of(part)
        begun, end = not whole, "\n" if whole else ""
        yield f"{style}{visible(part)}{_END}{end}" if colour and style else f"{visible(part)}{end}"


class _Ink:
    """Knows by a hunk's own count which lines are in it: a removed `-- x` is no header."""

    def __init__(self) -> None:
        self._minus = self._plus = 0

    def of(self, line: str) -> str:
        if self._minus > 0 or self._plus > 0:
            return self._inside(line[:1])
        if found := _HUNK.match(line):
            self._minus, self._plus = (1 if many is None else int(many) for many in found.groups())
            return _PLACE
        return "" if line.startswith("\\") else _HEAD

    def _inside(self, sign: str) -> str:
        self._minus -= sign in {"-", " "}
        self._plus -= sign in {"+", " "}
        return {"+": _PLUS, "-": _MINUS}.get(sign, "")


def _lines(pieces: Iterable[bytes]) -> Iterator[tuple[str, bool]]:
    """Each with whether it ends here: one that is far too long for anybody comes in parts, and fills no memory."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    begun = ""
    for piece in pieces:
        *whole, begun = (begun + decoder.decode(piece)).split("\n")
        yield from ((line, True) for line in whole)
        if len(begun) > LONGEST:
            yield begun, False
            begun = ""
    begun += decoder.decode(b"", final=True)
    if begun:
        yield begun, True


def page_through(lines: Iterable[str], place: Place) -> None:
    """Through the pager that git would use here; without one, straight to the terminal."""
    pager = _pager(place)
    if not pager:
        sys.stdout.writelines(lines)
        return
    sys.stdout.flush()
    environment = {"LESS": "FRX", "LV": "-c", **os.environ}
    shown = subprocess.Popen(["/bin/sh", "-c", pager], stdin=subprocess.PIPE, env=environment)  # noqa: S603 - as git runs it
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is the pager's
    try:
        assert shown.stdin is not None
        with suppress(BrokenPipeError), shown.stdin as pipe:
            for line in lines:
                pipe.write(line.encode("utf-8", "replace"))
    finally:
        shown.wait()
        signal.signal(signal.SIGINT, before)


def _pager(place: Place) -> str:
    said = os.environ.get("GIT_PAGER")
    if said is None:
        told = Git(place.state.parent).run("config", "--get", "core.pager", codes=(0, 1))
        said = told.text if told.code == 0 else os.environ.get("PAGER")
    if said is None:
        from shutil import which  # noqa: PLC0415 - only where nobody chose one

        said = "less" if which("less") else ""
    return "" if said == "cat" else said
