"""Questions on the terminal."""

from __future__ import annotations

import sys

from plait.cli.output import make_console, replace_control_chars

_YES_ANSWERS = frozenset({"y", "yes"})


_NO_ANSWERS = frozenset({"n", "no"})


def is_interactive() -> bool:
    """Whether a question can be asked and answered on the terminal."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def ask_yes_no(question: str, *, default: bool) -> bool:
    out = make_console()
    while True:
        try:
            answer = out.input(replace_control_chars(question), markup=False, emoji=False).strip().lower()
        except EOFError:  # Ctrl+D leaves as Ctrl+C does
            raise KeyboardInterrupt from None
        if not answer:
            return default
        if answer in _YES_ANSWERS | _NO_ANSWERS:
            return answer in _YES_ANSWERS


def confirm(question: str) -> bool:
    """Ask, with no as the default. Without a terminal, having run the command is the confirmation."""
    return not is_interactive() or prompt_line(question).lower() in _YES_ANSWERS


def prompt_line(question: str) -> str:
    try:
        return input(replace_control_chars(question)).strip()
    except EOFError:  # Ctrl+D leaves as Ctrl+C does
        raise KeyboardInterrupt from None
