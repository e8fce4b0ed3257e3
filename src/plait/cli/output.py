"""Output of all commands: consoles, pages of styled lines, problems, JSON, exit codes; and questions on the terminal."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from plait.core.plan import Problem, Severity

if TYPE_CHECKING:
    from rich.console import Console


_CONTROL_CHARS = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
OK, FAILED, USAGE, NEEDS_PERSON, INTERNAL, INTERRUPTED = 0, 1, 2, 3, 4, 130
_FORCE_TERMINAL_VARS = ("FORCE_COLOR", "TTY_COMPATIBLE")  # rich takes any output for a terminal then
_SEVERITY_STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.INFO: "dim"}
_SEVERITY_LABELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def make_console(*, stderr: bool = False) -> Console:
    """Make a console. Text is printed verbatim: no markup, highlighting or emoji names."""
    from rich.console import Console  # not needed for --json and --help

    return Console(stderr=stderr, markup=False, highlight=False, emoji=False, soft_wrap=True)


def find_terminal(*, stderr: bool = False) -> Console | None:
    """Return the terminal's console, or None; without a terminal rich is not imported."""
    file = sys.stderr if stderr else sys.stdout
    if not file.isatty() and not any(map(os.environ.get, _FORCE_TERMINAL_VARS)):
        return None
    out = make_console(stderr=stderr)
    return out if out.is_terminal else None


def replace_control_chars(text: str) -> str:
    """Replace characters that move the cursor, change colours or reverse the direction of text."""
    return _CONTROL_CHARS.sub("\ufffd", text)


class Page:
    """Lines that are printed at once, because rich is slow at thousands of small prints."""

    def __init__(self) -> None:
        self._lines: list[tuple[list[tuple[str, str]], int | None]] = []

    def add_line(self, *pieces: str | tuple[str, str], indent: int | None = None) -> None:
        """Add a line of texts, each plain or with a style; control characters are replaced.

        With `indent`, a last text that is too long for a terminal is continued there, and not inside a word.
        """
        styled = ((piece, "") if isinstance(piece, str) else piece for piece in pieces)
        self._lines.append(([(replace_control_chars(text), style) for text, style in styled], indent))

    def add_problems(self, problems: Sequence[Problem]) -> None:
        """Add problems, errors first; each with its location, and its hint below."""
        for severity in (Severity.ERROR, Severity.WARNING, Severity.INFO):
            for problem in problems:
                if problem.severity is severity:
                    first, *rest = problem.message.split("\n")
                    position = f"{problem.at}: " if problem.at else ""
                    label = (_SEVERITY_LABELS[severity], _SEVERITY_STYLES[severity])
                    self.add_line(label, f" {position}{first}", indent=2)
                    for line in rest:
                        self.add_line(f"  {line.strip()}", indent=2)
                    for line in problem.hint.splitlines():
                        self.add_line((f"  {line.strip()}", "dim"), indent=2)

    def show(self, out: Console | None = None, *, stderr: bool = False) -> None:
        """Print on this console, or on a standard stream."""
        out = out if out is not None else find_terminal(stderr=stderr)
        if out is None or not out.is_terminal:
            file = out.file if out is not None else sys.stderr if stderr else sys.stdout
            file.write("".join("".join(text for text, _ in pieces) + "\n" for pieces, _ in self._lines))
            return
        from rich.segment import Segment, Segments  # not needed for --json and --help
        from rich.style import Style

        width = out.width if out.file.isatty() else None
        lines = [_wrap_line(pieces, width, indent) for pieces, indent in self._lines]
        pieces = [piece for line in lines for piece in (*line, ("\n", ""))]
        styles = {name: Style.parse(name) if name else None for _, name in pieces}
        out.print(Segments([Segment(text, styles[name]) for text, name in pieces]), end="")


def _wrap_line(pieces: list[tuple[str, str]], width: int | None, indent: int | None) -> list[tuple[str, str]]:
    if width is None or indent is None or sum(len(text) for text, _ in pieces) <= width:
        return pieces
    from textwrap import wrap  # only for long lines

    *head, (text, style) = pieces
    before = sum(len(text) for text, _ in head)
    lines = wrap(
        text,
        width,
        initial_indent=" " * before,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [*head, ("\n".join(lines)[before:], style)]


def print_problems(problems: Sequence[Problem]) -> None:
    """Print problems on standard error, so that they never mix with the output."""
    page = Page()
    page.add_problems(problems)
    page.show(stderr=True)


def print_json(value: object) -> None:
    """Print a model, or a container of models and plain values."""
    import msgspec  # only where JSON is asked for

    from plait.client.json_encoding import to_builtins

    plain = to_builtins(value)
    try:
        text = msgspec.json.format(msgspec.json.encode(plain), indent=2).decode()
    except UnicodeEncodeError:  # the name of a file that is not UTF-8
        import json

        text = json.dumps(plain, indent=2)
    sys.stdout.write(text + "\n")


def print_line(*pieces: str | tuple[str, str], indent: int | None = None, stderr: bool = False) -> None:
    """Print a line of texts as `Page.add_line` takes them."""
    page = Page()
    page.add_line(*pieces, indent=indent)
    page.show(stderr=stderr)
    sys.stdout.flush()


def print_note(text: str, hint: str = "") -> None:
    """Print `plait: …` on standard error, after what standard output has so far; on a terminal, wrapped between words."""
    with suppress(OSError):  # reported when the process ends
        sys.stdout.flush()
    width = get_terminal_size().columns if sys.stderr.isatty() else None
    for line in (*f"plait: {text}".split("\n"), *(f"  {line.strip()}" for line in hint.splitlines())):
        ((wrapped, _),) = _wrap_line([(replace_control_chars(line), "")], width, 2)
        sys.stderr.write(f"{wrapped}\n")


def print_notice(text: str) -> None:
    """Print a line on standard error, so that it never mixes with JSON; a closed terminal is no error."""
    with suppress(OSError):
        print_line(text, stderr=True)


_YES_ANSWERS = frozenset({"y", "yes"})
_NO_ANSWERS = frozenset({"n", "no"})


def is_interactive() -> bool:
    """Whether a question can be asked and answered on the terminal."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def ask_yes_no(question: str, *, default: bool) -> bool:
    """Ask until the answer is yes, no or empty, which is the default."""
    while (answer := prompt_line(question).lower()) not in _YES_ANSWERS | _NO_ANSWERS | {""}:
        pass
    return answer in _YES_ANSWERS if answer else default


def confirm(question: str) -> bool:
    """Ask, with no as the default. Without a terminal, having run the command is the confirmation."""
    return not is_interactive() or prompt_line(question).lower() in _YES_ANSWERS


def prompt_line(question: str) -> str:
    try:
        return input(replace_control_chars(question)).strip()
    except EOFError:  # Ctrl+D leaves as Ctrl+C does
        raise KeyboardInterrupt from None
