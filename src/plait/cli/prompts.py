"""Questions on the terminal."""

from __future__ import annotations

import sys

from plait.cli.output import replace_control_chars

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
