"""Small helpers for messages."""

from __future__ import annotations

from collections.abc import Sequence


def join_names(names: Sequence[str], limit: int) -> str:
    """The first `limit` names, and how many more there are: "a, b and 3 more"."""
    rest = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(names[:limit]) + rest


def shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"
