"""Small helpers for messages."""

from __future__ import annotations

import re
from collections.abc import Sequence

from plait.core.lazy_pattern import pattern

_TASK_PREFIX = pattern(r"(?:task|writer-prompt)-(?=.)", re.IGNORECASE)


# What a forge or its CI acts on in a commit message or a title. Each gets an invisible character that breaks it.
_REFERENCE = pattern(
    r"[@#!](?=\S)|(?<=\bGH)-(?=\d)|:(?=//)"  # a mention, an issue, a link to one
    r"|\[(?=[^\[\]]*\b(?:skip|no[ _-]?ci)\b)|\*(?=\*\*NO_CI)"  # [skip ci] and its variants
    r"|^/(?=\w)",  # a command
    re.IGNORECASE,
)
_TRAILER_NAME = pattern(r"\b(?:[a-z]+(?:-[a-z]+)*-by|change-id|skip-checks|plait-[a-z]+)(?=\s*:)", re.IGNORECASE)
ZERO_WIDTH_SPACE = "\u200b"


def defuse_references(text: str) -> str:
    """Return a text that reads the same, but mentions no one, closes no issue, is no trailer and stops no CI.

    For untrusted text on one line of a commit message, or of a title that may become one.
    """
    spaced = _REFERENCE.sub(lambda match: f"{match[0]}{ZERO_WIDTH_SPACE}", text)
    return _TRAILER_NAME.sub(lambda match: f"{match[0]}{ZERO_WIDTH_SPACE}", spaced)


def join_names(names: Sequence[str], limit: int) -> str:
    """Join the first `limit` names and say how many more there are: "a, b and 3 more"."""
    rest = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + rest


def format_duration(seconds: float) -> str:
    """Format a limit that a person set, exactly: `30m`, `1h 30m`, `0.5s`."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(int(minutes), 60)
    parts = ((hours, "h"), (minutes, "m"), (rest, "s"))
    return " ".join(f"{number:g}{unit}" for number, unit in parts if number) or "0s"


def strip_task_prefix(name: str) -> str:
    """Remove the word that names of task files often begin with: `1` for `task-1`."""
    return name[match.end() :] if (match := _TASK_PREFIX.match(name)) else name


def shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"
