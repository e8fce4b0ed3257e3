"""Workspaces as git worktrees: made, reused, given back. `GitWorkspaces` and, before that, `check_ground`."""

from plait.site.workspaces.ground import check_preconditions
from plait.site.workspaces.workspaces import GitWorkspaces

__all__ = ["GitWorkspaces", "check_preconditions"]
