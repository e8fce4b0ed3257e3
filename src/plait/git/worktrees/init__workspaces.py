"""Workspaces as git worktrees: made, reused, given back. `GitWorkspaces` and, before that, `check_ground`."""

from plait.git.worktrees.preconditions import check_preconditions
from plait.git.worktrees.workspaces import GitWorkspaces

__all__ = ["GitWorkspaces", "check_preconditions"]
