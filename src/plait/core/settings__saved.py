"""Saved settings: JSON texts by name, as the page and the API save them. What they mean is for those who read settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

MAX_SAVED_SETTINGS = 256  # names
MAX_SAVED_NAME_CHARS = 100  # characters
MAX_SAVED_TEXT_CHARS = 16_384  # characters of one text

# A name and its text; None forgets it.
SavedChanges = Iterable[tuple[str, str | None]]


def merge_saved_settings(saved: Mapping[str, str], changes: SavedChanges) -> dict[str, str]:
    """What is saved then."""
    merged: dict[str, str | None] = {**saved, **dict(changes)}
    return {name: text for name, text in merged.items() if text is not None}


def why_not_save(saved: Mapping[str, str], changes: SavedChanges) -> str | None:
    """The journal keeps what is asked for for ever: it has to be of a size that settings have."""
    wanted = tuple(changes)
    if len(wanted) > MAX_SAVED_SETTINGS or len(merge_saved_settings(saved, wanted)) > MAX_SAVED_SETTINGS:
        return f"no more than {MAX_SAVED_SETTINGS} settings can be saved"
    for name, text in wanted:
        if not 0 < len(name) <= MAX_SAVED_NAME_CHARS:
            return f"the name of a saved setting must have from 1 to {MAX_SAVED_NAME_CHARS} characters"
        if text is not None and len(text) > MAX_SAVED_TEXT_CHARS:
            return f"{name} is too long to be saved: {len(text)} characters, and {MAX_SAVED_TEXT_CHARS} are the most"
    return None
