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
    from plait.engine.daemon import HeldProcess
    from plait.git.location import RepoLocation

# What nothing is run by, or something elsewhere.
_NO_RUN_FLAGS = ("--dry-run", "--help", "-h", "--repo")

_prestarted: tuple[RepoLocation, HeldProcess] | None = None


def find_run_directory(argv: Sequence[str]) -> Path | None:
    """Where `[-C DIR]... run …` will run something; None for all other words, and where it may not."""
    where, rest = Path(), list(argv)
    while rest[:1] == ["-C"] and len(rest) > 1:
        where, rest = where / rest[1], rest[2:]
    runs = rest[:1] == ["run"] and not any(word.partition("=")[0] in _NO_RUN_FLAGS for word in rest)
    return where if runs else None


def prestart_for_run(argv: Sequence[str]) -> None:
    global _prestarted  # noqa: PLW0603 - one front has one
    where = find_run_directory(argv)
    if where is None or None in {
        sys.stdin,
        sys.stdout,
        sys.stderr,
    }:  # one was closed: the pipe would take its place
        return
    from plait.engine.daemon import find_engine, spawn_held_engine  # only for those who run something
    from plait.git.location import find_repo  # only for those who run something

    try:
        place = find_repo(where)
        held = spawn_held_engine(place) if find_engine(place) is None else None
    except (PlaitError, OSError):  # whoever really looks will say so
        return
    _prestarted = (place, held) if held is not None else None


def take_engine(place: RepoLocation) -> HeldProcess | None:
    """The engine that was begun for this place, if one was: the caller's from now on."""
    global _prestarted
    if _prestarted is None or _prestarted[0] != place:
        return None
    held, _prestarted = _prestarted[1], None
    return held


def drop_engine() -> None:
    """Nobody took it."""
    global _prestarted  # noqa: PLW0603
    if _prestarted is not None:
        _prestarted[1].discard()
        _prestarted = None
