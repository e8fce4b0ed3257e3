"""Start the engine process for `plait run` before anything else, since both take equally long to import.

A run of one task takes 270 ms instead of 326 (two idle cores). The engine waits for a command and touches nothing before; `drop_engine` ends it if it is not needed.
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

# With these nothing runs, or it runs in another repository.
_NO_RUN_FLAGS = ("--dry-run", "--help", "-h", "--repo")

_prestarted: tuple[RepoLocation, HeldProcess] | None = None


def find_run_directory(argv: Sequence[str]) -> Path | None:
    """The directory of `[-C DIR]... run …`; None for any other command."""
    where, rest = Path(), list(argv)
    while rest[:1] == ["-C"] and len(rest) > 1:
        where, rest = where / rest[1], rest[2:]
    runs = rest[:1] == ["run"] and not any(word.partition("=")[0] in _NO_RUN_FLAGS for word in rest)
    return where if runs else None


def prestart_for_run(argv: Sequence[str]) -> None:
    global _prestarted  # noqa: PLW0603 - one per process
    where = find_run_directory(argv)
    if where is None or None in {sys.stdin, sys.stdout, sys.stderr}:  # one was closed: the pipe would take its place
        return
    from plait.engine.daemon import find_engine, spawn_held_engine  # only for `plait run`
    from plait.git.location import find_repo

    try:
        place = find_repo(where)
        held = spawn_held_engine(place) if find_engine(place) is None else None
    except (PlaitError, OSError):  # the command itself will report it
        return
    _prestarted = (place, held) if held is not None else None


def take_engine(place: RepoLocation) -> HeldProcess | None:
    """Hand over the engine that was started for this repository, if any."""
    global _prestarted
    if _prestarted is None or _prestarted[0] != place:
        return None
    held, _prestarted = _prestarted[1], None
    return held


def drop_engine() -> None:
    """End the engine if it was not taken."""
    global _prestarted  # noqa: PLW0603
    if _prestarted is not None:
        _prestarted[1].discard()
        _prestarted = None
