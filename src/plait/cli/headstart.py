"""A head start: `plait run` will need an engine, which takes as long to get ready as this front does. So it begins first.

It waits for a word, and touches nothing before. Whoever has no use for it drops it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from plait.core.errors import PlaitError

if TYPE_CHECKING:
    from plait.wiring import Held, Place

# What nothing is run by, or something elsewhere.
_OTHERWISE = ("--dry-run", "--help", "-h", "--repo")

_begun: tuple[Place, Held] | None = None


def place_of(words: Sequence[str]) -> Path | None:
    """Where `[-C DIR]... run …` will run something; None for all other words, and where it may not."""
    where, left = Path(), list(words)
    while left[:1] == ["-C"] and len(left) > 1:
        where, left = where / left[1], left[2:]
    runs = left[:1] == ["run"] and not any(word.partition("=")[0] in _OTHERWISE for word in left)
    return where if runs else None


def begin(words: Sequence[str]) -> None:
    global _begun  # noqa: PLW0603 - one front has one
    where = place_of(words)
    if where is None or None in {
        sys.stdin,
        sys.stdout,
        sys.stderr,
    }:  # one was closed: the pipe would take its place
        return
    from plait.wiring import engine_of, find_place, warm_engine  # noqa: PLC0415 - only for those who run something

    try:
        place = find_place(where)
        held = warm_engine(place) if engine_of(place) is None else None
    except (PlaitError, OSError):  # whoever really looks will say so
        return
    _begun = (place, held) if held is not None else None


def taken(place: Place) -> Held | None:
    """The engine that was begun for this place, if one was: the caller's from now on."""
    global _begun
    if _begun is None or _begun[0] != place:
        return None
    held, _begun = _begun[1], None
    return held


def drop() -> None:
    """Nobody took it."""
    global _begun  # noqa: PLW0603
    if _begun is not None:
        _begun[1].drop()
        _begun = None
