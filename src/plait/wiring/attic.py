"""What batches leave behind: for `plait gc`."""

from __future__ import annotations

from collections.abc import Callable

from plait.adapters.attic.attic import GarbageCollector, JournalFacts
from plait.adapters.attic.heads import RefNames
from plait.adapters.attic.model import (
    GcBatch,
    BranchItem,
    GcPlan,
    GcFacts,
    BatchFolderItem,
    Removal,
    KeptItem,
    LockItem,
    LostRepositoryItem,
    RefItem,
    SetupCacheItem,
    GcItem,
    TranscriptsItem,
    TrashItem,
    WorktreeUse,
    GcOptions,
    WorktreeItem,
)
from plait.adapters.attic.plan import plan_gc
from plait.adapters.attic.restoring import RestoredBranch, SavedCommit, restore_branch, list_saved_commits
from plait.config.model import Config
from plait.site.git import Git
from plait.site.workspaces.layout import WorkspaceLayout
from plait.site.workspaces.repository import Repository
from plait.wiring import RepoLocation, open_state_paths
from plait.wiring.repository import find_git_dir, find_worktrees_folder

__all__ = [
    "GarbageCollector",
    "GcBatch",
    "BranchItem",
    "GcPlan",
    "GcFacts",
    "BatchFolderItem",
    "Removal",
    "KeptItem",
    "JournalFacts",
    "LockItem",
    "LostRepositoryItem",
    "RefNames",
    "RefItem",
    "RestoredBranch",
    "SavedCommit",
    "SetupCacheItem",
    "GcItem",
    "TranscriptsItem",
    "TrashItem",
    "WorktreeUse",
    "GcOptions",
    "WorktreeItem",
    "plan_gc",
    "restore_branch",
    "list_saved_commits",
]


def open_collector(
    place: RepoLocation, config: Config, known: Callable[[], JournalFacts]
) -> GarbageCollector:
    layout = WorkspaceLayout(find_worktrees_folder(place, config).resolve())
    return GarbageCollector(Repository(find_git_dir(place)), layout, open_state_paths(place), known)


def open_repository_git(place: RepoLocation) -> Git:
    """Git in the repository's own folder, whichever of its worktrees this is."""
    return Repository(find_git_dir(place)).git
