"""A glance at a workspace while its agent works: what it would leave if it stopped now. Nothing is changed by it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from plait.git.refs import task_branch
from plait.git.worktrees.agent_worktree import open_worktree
from plait.git.worktrees.agent_worktree__scratch import scratch_folder
from plait.git.worktrees.attempt_commit__words import PLAIT_IDENTITY, format_identity
from plait.git.worktrees.tree_snapshot import snapshot_worktree


def preview_commit(  # noqa: PLR0913 - as for the others here
    workspace: Path,
    batch: str,
    task: str,
    base: str,
    *,
    environment: Mapping[str, str] | None = None,
    common: Path | None = None,
) -> str | None:
    """A commit on `base` that no ref holds; None: nothing differs from it."""
    worktree = open_worktree(workspace, task_branch(batch, task), common, environment, repair=False)
    with scratch_folder(worktree.admin) as room:
        tree = snapshot_worktree(worktree, room, base).tree
        if tree == worktree.tree_of(base):
            return None
        git = worktree.git.with_options(variables=format_identity(PLAIT_IDENTITY, PLAIT_IDENTITY))
        return git.text("commit-tree", tree, "-p", base, "-m", f"{task}, at work")
