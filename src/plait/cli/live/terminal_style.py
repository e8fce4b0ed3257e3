"""What a terminal can show: signs its encoding has, and texts cut or padded to a width in cells."""

from __future__ import annotations

import codecs

from rich.cells import cell_len, set_cell_size

from plait.cli.format import MINUS_SIGN
from plait.cli.output import replace_control_chars
from plait.core.fast_dataclass import dataclass
from plait.core.status import TaskStatus

StyledText = tuple[str, str]  # a text and its style
StyledLine = tuple[StyledText, ...]

_MAX_CHARS = 2000  # of a text; the rest is ignored
_MAX_CHARS_PER_CELL = 8  # any number of combining marks can be stacked on one letter


@dataclass(frozen=True, slots=True)
class TerminalStyle:
    """The signs of a terminal. `signs` are shown beside statuses; corners, rule and side draw the box."""

    encoding: str
    signs: dict[TaskStatus, str]
    corners: tuple[str, str, str, str]
    rule: str
    side: str
    dot: str
    ellipsis: str
    minus: str

    def sanitize(self, text: str) -> str:
        """Put the text on one line, without control characters, in characters the encoding has."""
        line = replace_control_chars(" ".join(text[:_MAX_CHARS].split()))
        if self.encoding == "utf-8" and line.isprintable():
            return line
        return line.encode(self.encoding, "replace").decode(self.encoding)

    def replace_signs(self, text: str) -> str:
        """Replace signs in plait's own texts with those this terminal has."""
        return text.replace("·", self.dot).replace("…", self.ellipsis).replace(MINUS_SIGN, self.minus)

    def fit(self, text: str, width: int) -> str:
        """Cut the text to `width` cells, with an ellipsis if it was longer."""
        if width <= 0:
            return ""
        text = text[: width * _MAX_CHARS_PER_CELL]
        if cell_len(text) <= width:
            return text
        return set_cell_size(text, width - 1).rstrip() + self.ellipsis

    def wrap(self, text: str, width: int, max_lines: int) -> list[str]:
        """Wrap at spaces into at most `max_lines` lines; the last one is cut."""
        lines, words = [""], text.split(" ")
        while words:
            longer = f"{lines[-1]} {words[0]}".strip()
            if not lines[-1] or cell_len(longer) <= width or len(lines) == max_lines:
                lines[-1] = longer
                words.pop(0)
            else:
                lines.append("")
        return [self.fit(line, width) for line in lines]

    def fit_middle(self, text: str, width: int) -> str:
        """Cut the text like `fit`, but in the middle, for texts with a common beginning."""
        if width < 5 or cell_len(text) <= width:
            return self.fit(text, width)
        tail = width // 2
        end = text[-tail:]
        while cell_len(end) > tail:
            end = end[1:]
        return set_cell_size(text, width - cell_len(end) - 1).rstrip() + self.ellipsis + end

    def pad(self, text: str, width: int) -> str:
        fitted = self.fit(text, width)
        return fitted + " " * (width - cell_len(fitted))

    def pad_left(self, text: str, width: int) -> str:
        fitted = self.fit(text, width)
        return " " * (width - cell_len(fitted)) + fitted


# For each status, the sign and its replacement in ASCII.
_STATUS_SIGNS = {
    TaskStatus.QUEUED: ("·", "."),
    TaskStatus.WAITING: ("◌", "o"),
    TaskStatus.RUNNING: ("▶", ">"),
    TaskStatus.VERIFYING: ("▷", ">"),
    TaskStatus.MERGING: ("⇢", ">"),
    TaskStatus.DONE: ("✓", "+"),
    TaskStatus.FAILED: ("✗", "x"),
    TaskStatus.TIMED_OUT: ("✗", "x"),
    TaskStatus.BLOCKED: ("⊘", "!"),
    TaskStatus.SKIPPED: ("-", "-"),
    TaskStatus.CONFLICTED: ("✗", "x"),
    TaskStatus.CANCELLED: ("-", "-"),
    TaskStatus.INTERRUPTED: ("‖", "="),
}
_SIGNS = {status: sign for status, (sign, _) in _STATUS_SIGNS.items()}
_ASCII_SIGNS = {status: sign for status, (_, sign) in _STATUS_SIGNS.items()}
_UNICODE_SIGNS = f"╭╮╰╯─│·…{MINUS_SIGN}" + "".join(_SIGNS.values())


def choose_terminal_style(encoding: str) -> TerminalStyle:
    """Choose Unicode signs if the encoding has all of them, else ASCII."""
    try:
        name = codecs.lookup(encoding).name
    except LookupError:
        return _make_ascii_style("ascii")
    try:
        _UNICODE_SIGNS.encode(name)
    except UnicodeEncodeError:
        return _make_ascii_style(name)
    return TerminalStyle(name, _SIGNS, ("╭", "╮", "╰", "╯"), "─", "│", "·", "…", MINUS_SIGN)


def _make_ascii_style(encoding: str) -> TerminalStyle:
    return TerminalStyle(encoding, _ASCII_SIGNS, ("+", "+", "+", "+"), "-", "|", "-", "~", "-")
