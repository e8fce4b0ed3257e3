"""A glance at a workspace while its agent works: what it would leave if it stopped now. Nothing is changed by it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from plait.site.capture.scratch import scratch
from plait.site.capture.snapshot import look
from plait.site.capture.words import PLAIT, variables
from plait.site.capture.worktree import find
from plait.site.refs import task_branch


def glance(  # noqa: PLR0913 - as for the others here
    workspace: Path,
    batch: str,
    task: str,
    base: str,
    *,
    environment: Mapping[str, str] | None = None,
    common: Path | None = None,
) -> str | None:
    """A commit on `base` that no ref holds; None: nothing differs from it."""
    worktree = find(workspace, task_branch(batch, task), common, environment, mend=False)
    with scratch(worktree.admin) as room:
        tree = look(worktree, room, base).tree
        if tree == worktree.tree(base):
            return None
        git = worktree.git.with_(variables=variables(PLAIT, PLAIT))
        return git.text("commit-tree", tree, "-p", base, "-m", f"{task}, at work")
