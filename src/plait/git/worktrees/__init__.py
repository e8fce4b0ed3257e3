"""What agents leave in workspaces: captured as commits, saved before it could be lost, put back after a check."""

from plait.git.worktrees.agent_worktree import WorktreeError
from plait.git.worktrees.attempt_commit import HookRefusedError, SigningError
from plait.git.worktrees.capture import capture
from plait.git.worktrees.capture__glancing import preview_commit
from plait.git.worktrees.capture__putting_back import reset_workspace
from plait.git.worktrees.result_checks import UnfinishedError
from plait.git.worktrees.saved_work import save_workspace

__all__ = [
    "HookRefusedError",
    "SigningError",
    "UnfinishedError",
    "WorktreeError",
    "capture",
    "preview_commit",
    "reset_workspace",
    "save_workspace",
]
