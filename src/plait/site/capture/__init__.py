"""What agents leave in workspaces: captured as commits, saved before it could be lost, put back after a check."""

from plait.site.capture.commit import RefusedError, SigningError
from plait.site.capture.glancing import glance
from plait.site.capture.putting_back import put_back
from plait.site.capture.saving import save
from plait.site.capture.taking import capture
from plait.site.capture.unfinished import UnfinishedError
from plait.site.capture.worktree import WorktreeError

__all__ = [
    "RefusedError",
    "SigningError",
    "UnfinishedError",
    "WorktreeError",
    "capture",
    "glance",
    "put_back",
    "save",
]
