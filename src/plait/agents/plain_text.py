"""What tools print, as plain text: for one line of a table, without anything that could steer a terminal."""

from __future__ import annotations

import re

MAX_LINE_CHARS = 4096  # characters of a line that are looked at
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursors
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)"  # titles, links
    r"|\x1b[ -/]*[0-~]?"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)


def to_plain_text(line: str, max_chars: int = MAX_LINE_CHARS) -> str:
    """What a terminal would show of this line in the end, on one line and at most so long."""
    if line.isprintable():
        return truncate(line.strip(), max_chars)
    line = _drop_overwritten(line.rstrip("\r\n"))
    line = _ESCAPES.sub("", line[:MAX_LINE_CHARS])
    if not line.isprintable():
        line = " ".join("".join(map(_printable_char, line)).split())
    return truncate(line.strip(), max_chars)


def truncate(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else f"{text[: max_chars - 1].rstrip()}{ELLIPSIS}"


def _drop_overwritten(line: str) -> str:
    """A progress bar draws itself over and over; each time from the line's beginning."""
    drawn = line.rfind("\r")
    return line if drawn < 0 else line[drawn + 1 :]


def _printable_char(char: str) -> str:
    if char.isprintable():
        return char
    if char.isspace():
        return " "
    return "\N{REPLACEMENT CHARACTER}" if "\ud800" <= char <= "\udfff" else ""
