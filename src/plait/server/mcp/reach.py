"""How far a caller reaches: everything, or only what changes nothing, and why."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from plait.core.frozen import dataclass
from plait.site.workspaces import stamp
from plait.wiring import Place

_ATTEMPT = ("PLAIT_BATCH", "PLAIT_MARK")


@dataclass(frozen=True, slots=True)
class Reach:
    """`held` says why nothing may be changed; empty: everything is allowed."""

    held: str = ""


EVERYTHING = Reach()
READ_ONLY = Reach("this server was started with --read-only")
READ_TOKEN = Reach("this token may only read")
NESTED = Reach(
    "it was started inside an attempt of a batch, and a task does not steer the batch that it belongs to"
)


def reach_of(place: Place, *, read_only: bool, environment: Mapping[str, str] | None = None) -> Reach:
    """Of whoever starts a server here. It keeps an agent from an accident; whoever has a shell has the command line."""
    told = os.environ if environment is None else environment
    if any(told.get(name) for name in _ATTEMPT) or _leased(place.top):
        return NESTED
    return READ_ONLY if read_only else EVERYTHING


def _leased(top: Path) -> bool:
    """Whether it is the worktree of a task: agents may start their servers with an environment that tells nothing."""
    try:
        word, _, said = (top / ".git").read_text("utf-8", "surrogateescape").partition(":")
    except OSError:  # a checkout of its own has a folder there
        return False
    return word == "gitdir" and stamp.read(top / said.strip()) is not None
