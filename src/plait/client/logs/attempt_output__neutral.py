"""What tools print, made harmless for a terminal, in pieces of any size: colours go, and nothing moves a cursor."""

from __future__ import annotations

import codecs
import re

# A sequence that is longer than this is none.
_ANSI_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,256}[ -/]{0,16}[@-~]"  # colours, cursors
    r"|\x1b[\]PX^_][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)"  # titles, links
    r"|\x1b[ -/]{0,16}[0-Z\\`-~]"
)
_PARTIAL_SEQUENCE = re.compile(
    r"(?:\x1b(?:\[[0-?]{0,256}[ -/]{0,16}|[\]PX^_][^\x07\x1b]{0,4096}\x1b?|[ -/]{0,16})"
    r"|\x9b[0-?]{0,256}[ -/]{0,16}|\r)\Z"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class AnsiStripper:
    """Bytes in, text out. What could be half of a sequence is held back until its other half comes."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""

    def feed(self, data: bytes) -> str:
        text = self._held + self._decoder.decode(data)
        begun = _PARTIAL_SEQUENCE.search(text)
        self._held = "" if begun is None else text[begun.start() :]
        return _strip_controls(text if begun is None else text[: begun.start()])

    def end(self) -> str:
        text, self._held = self._held + self._decoder.decode(b"", final=True), ""
        self._decoder.reset()
        return _strip_controls(text)


def strip_ansi(text: str) -> str:
    """The same of a text that is whole."""
    whole = AnsiStripper()
    return whole.feed(text.encode("utf-8", "replace")) + whole.end()


def _strip_controls(text: str) -> str:
    """A line that draws itself anew (a progress bar) is a line each time."""
    if text.isascii() and text.isprintable():
        return text
    text = _ANSI_SEQUENCE.sub("", text).replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("\ufffd", text)
