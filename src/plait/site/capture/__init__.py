"""What agents leave in workspaces: captured as commits, saved before it could be lost, put back after a check."""

from plait.site.capture.commit import HookRefusedError, SigningError
from plait.site.capture.glancing import preview_commit
from plait.site.capture.putting_back import reset_workspace
from plait.site.capture.saving import save_workspace
from plait.site.capture.taking import capture
from plait.site.capture.unfinished import UnfinishedError
from plait.site.capture.worktree import WorktreeError

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
