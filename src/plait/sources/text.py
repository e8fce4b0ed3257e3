"""The text of a file, byte for byte: lossless decoding, lines with their ends, edits that touch nothing else."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property

from plait.core.fast_dataclass import dataclass

BOM = "\ufeff"
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_END = re.compile(r"(?:\r\n|\r|\n)\Z")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def decode(data: bytes) -> str:
    """Lossless: bytes that are not UTF-8 come back from `encode`."""
    return data.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def to_printable(text: str) -> str:
    """The text as it may be shown, stored and sent: what was not UTF-8 is a question mark in a diamond, NUL too."""
    return _SURROGATE.sub("\ufffd", text).replace("\0", "\ufffd")


def find_invalid_utf8_line(text: str) -> int | None:
    """The first line (from 1) that holds bytes which are not UTF-8."""
    found = _SURROGATE.search(text)
    return None if found is None else len(_LINE.findall(text, 0, found.start() + 1))


@dataclass(frozen=True)
class TextLines:
    """The lines of a text with their ends; numbers start at 0, as the markdown parser counts them."""

    text: str

    @cached_property
    def all(self) -> list[str]:
        return _LINE.findall(self.text)

    @cached_property
    def starts(self) -> list[int]:
        """Where each line begins in the text, and where the text ends."""
        starts = [0]
        for line in self.all:
            starts.append(starts[-1] + len(line))
        return starts

    def __len__(self) -> int:
        return len(self.all)

    def line_at(self, position: int) -> int:
        """The number of the line at a position of the text."""
        return bisect_right(self.starts, position, hi=max(len(self.all), 1)) - 1

    def strip_end(self, number: int) -> str:
        """A line without its end, and without the byte order mark."""
        line = _END.sub("", self.all[number])
        return line.removeprefix(BOM) if number == 0 else line

    def line_end(self, number: int) -> str:
        """How this line ends; empty for a last line without an end."""
        return self.all[number][len(_END.sub("", self.all[number])) :]

    @cached_property
    def eol(self) -> str:
        """How lines end in this file: as the first one does."""
        return self.line_end(0) or "\n" if self.all else "\n"


@dataclass(frozen=True, slots=True, order=True)
class TextEdit:
    """Put `new` in place of the text from `start` to `stop`."""

    start: int
    stop: int
    new: str


def apply_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """The text with all the edits; they must not overlap, and inserts at one place stay in their order."""
    parts: list[str] = []
    done = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.stop)):
        assert edit.start >= done, "edits overlap"
        parts += (text[done : edit.start], edit.new)
        done = edit.stop
    parts.append(text[done:])
    return "".join(parts)
