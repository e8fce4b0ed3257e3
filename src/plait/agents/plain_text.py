"""Untrusted text made safe to show: on one line, without terminal escapes; or between fences that it can't close."""

from __future__ import annotations

import re

MAX_LINE_CHARS = 4096  # characters of a line that are used
ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"

# Terminal sequences.
ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursors
    r"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\|$)"  # titles, links
    r"|\x1b[ -/]*[0-~]?"
    r"|\x9b[0-?]*[ -/]*[@-~]"
)


def to_plain_text(line: str, max_chars: int = MAX_LINE_CHARS) -> str:
    """Return what a terminal would finally show of this text, on one line of at most `max_chars`."""
    if line.isprintable():
        return truncate(line.strip(), max_chars)
    line = _drop_overwritten(line.rstrip("\r\n"))
    line = ESCAPES.sub("", line[:MAX_LINE_CHARS])
    if not line.isprintable():
        line = " ".join("".join(map(_printable_char, line)).split())
    return truncate(line.strip(), max_chars)


def truncate(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else f"{text[: max_chars - 1].rstrip()}{ELLIPSIS}"


def fence(text: str, language: str = "") -> str:
    """Put the text in a Markdown fence that is longer than any in it."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    marks = "`" * (longest + 1)
    end = "" if text.endswith("\n") or not text else "\n"
    return f"{marks}{language}\n{text}{end}{marks}"


def _drop_overwritten(line: str) -> str:
    """Keep what was drawn last: a progress bar draws itself again and again from the line's beginning."""
    return line[line.rfind("\r") + 1 :]


def _printable_char(char: str) -> str:
    if char.isprintable():
        return char
    if char.isspace():
        return " "
    return "\N{REPLACEMENT CHARACTER}" if "\ud800" <= char <= "\udfff" else ""
