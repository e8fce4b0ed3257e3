"""How far a caller reaches: everything, or only what changes nothing, and why."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.git.location import RepoLocation
from plait.git.worktrees import metadata__stamp

_ATTEMPT_VARIABLES = ("PLAIT_BATCH", "PLAIT_MARK")


@dataclass(frozen=True, slots=True)
class AccessScope:
    """`held` says why nothing may be changed; empty: everything is allowed."""

    denial_reason: str = ""


FULL_SCOPE = AccessScope()
READ_ONLY_SCOPE = AccessScope("this server was started with --read-only")
READ_TOKEN_SCOPE = AccessScope("this token may only read")
NESTED_SCOPE = AccessScope(
    "it was started inside an attempt of a batch, and a task does not steer the batch that it belongs to"
)


def detect_scope(
    place: RepoLocation, *, read_only: bool, environment: Mapping[str, str] | None = None
) -> AccessScope:
    """Of whoever starts a server here. It keeps an agent from an accident; whoever has a shell has the command line."""
    variables = os.environ if environment is None else environment
    if any(variables.get(name) for name in _ATTEMPT_VARIABLES) or _is_task_worktree(place.top):
        return NESTED_SCOPE
    return READ_ONLY_SCOPE if read_only else FULL_SCOPE


def _is_task_worktree(top: Path) -> bool:
    """Whether it is the worktree of a task: agents may start their servers with an environment that tells nothing."""
    try:
        word, _, said = (top / ".git").read_text("utf-8", "surrogateescape").partition(":")
    except OSError:  # a checkout of its own has a folder there
        return False
    return word == "gitdir" and metadata__stamp.read_lease(top / said.strip()) is not None
