"""What tools print, as plain text: for one line of a table, without anything that could steer a terminal."""

from __future__ import annotations

import re

MOST = 4096  # characters of a line that are looked at
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursors
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)"  # titles, links
    r"|\x1b[ -/]*[0-~]?"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)


def plain(line: str, most: int = MOST) -> str:
    """What a terminal would show of this line in the end, on one line and at most so long."""
    if line.isprintable():
        return cut(line.strip(), most)
    line = _last_drawn(line.rstrip("\r\n"))
    line = _ESCAPES.sub("", line[:MOST])
    if not line.isprintable():
        line = " ".join("".join(map(_shown, line)).split())
    return cut(line.strip(), most)


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}{ELLIPSIS}"


def _last_drawn(line: str) -> str:
    """A progress bar draws itself over and over; each time from the line's beginning."""
    drawn = line.rfind("\r")
    return line if drawn < 0 else line[drawn + 1 :]


def _shown(char: str) -> str:
    if char.isprintable():
        return char
    if char.isspace():
        return " "
    return "\N{REPLACEMENT CHARACTER}" if "\ud800" <= char <= "\udfff" else ""
