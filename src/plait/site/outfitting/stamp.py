"""The stamp: what a workspace has been given, in git's own folder for this worktree, where no agent's change includes it."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import fields, replace
from pathlib import Path

from plait.core.errors import WorldError
from plait.core.frozen import dataclass
from plait.site.outfitting.spec import put

NAME = "plait-outfit"


@dataclass(frozen=True, slots=True)
class Stamp:
    """`ours` are paths from the workspace's top that are no part of an agent's change, folders with all that is in them.

    `fitted` tells for which wishes copies and links were made, `key` for which setup `made` was made; empty: not yet, or
    not to the end. `used`: an agent has worked here since, and what a setup makes now may be its doing.
    """

    key: str = ""
    ours: tuple[str, ...] = ()
    fitted: str = ""
    made: tuple[str, ...] = ()
    used: bool = False


_FIELDS = tuple(field.name for field in fields(Stamp))


def read_stamp(workspace: Path) -> Stamp:
    """An empty one where there is none, or none that can be read: then everything is done again."""
    try:
        told = json.loads((admin(workspace) / NAME).read_bytes())
        return Stamp(
            str(told["key"]),
            _texts(told["ours"]),
            str(told["fitted"]),
            _texts(told["made"]),
            bool(told["used"]),
        )
    except (OSError, WorldError, ValueError, TypeError, KeyError, RecursionError):
        return Stamp()


def write_stamp(workspace: Path, stamp: Stamp) -> None:
    told = {name: getattr(stamp, name) for name in _FIELDS}
    put(admin(workspace) / NAME, json.dumps(told).encode())


def relet(workspace: Path) -> None:
    """The workspace, cleaned of all but what setup made, goes to another task: copies and links are due again."""
    stamp = read_stamp(workspace)
    if stamp != Stamp():
        write_stamp(workspace, replace(stamp, fitted="", ours=stamp.made, used=False))


def admin(workspace: Path) -> Path:
    """Git's folder for this worktree."""
    dot = workspace / ".git"
    with suppress(IsADirectoryError):
        try:
            word, _, path = dot.read_bytes().partition(b" ")
        except (FileNotFoundError, NotADirectoryError) as error:
            raise WorldError(f"{workspace} is not a worktree") from error
        if word != b"gitdir:":
            raise WorldError(f"{dot} can't be read")
        return workspace / os.fsdecode(path.rstrip(b"\r\n"))
    return dot


def _texts(told: object) -> tuple[str, ...]:
    if not isinstance(told, list):
        raise TypeError(told)
    return tuple(str(each) for each in told)
