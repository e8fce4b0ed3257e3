"""Saved settings: JSON texts by name, as the page and the API save them. What they mean is for those who read settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

MOST = 256  # names
LONGEST_NAME = 100  # characters
LONGEST = 16_384  # characters of one text

# A name and its text; None forgets it.
Changes = Iterable[tuple[str, str | None]]


def after(saved: Mapping[str, str], changes: Changes) -> dict[str, str]:
    """What is saved then."""
    merged: dict[str, str | None] = {**saved, **dict(changes)}
    return {name: text for name, text in merged.items() if text is not None}


def why_not(saved: Mapping[str, str], changes: Changes) -> str | None:
    """The journal keeps what is asked for for ever: it has to be of a size that settings have."""
    wanted = tuple(changes)
    if len(wanted) > MOST or len(after(saved, wanted)) > MOST:
        return f"no more than {MOST} settings can be saved"
    for name, text in wanted:
        if not 0 < len(name) <= LONGEST_NAME:
            return f"the name of a saved setting must have from 1 to {LONGEST_NAME} characters"
        if text is not None and len(text) > LONGEST:
            return f"{name} is too long to be saved: {len(text)} characters, and {LONGEST} are the most"
    return None
