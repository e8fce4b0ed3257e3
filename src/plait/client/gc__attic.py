"""What batches leave behind: for `plait gc`."""

from __future__ import annotations

from collections.abc import Callable

from plait.client.repository import find_git_dir, find_worktrees_folder
from plait.config.config import Config
from plait.git.command import Git
from plait.git.gc.collector import GarbageCollector, JournalFacts
from plait.git.gc.items import (
    BatchFolderItem,
    BranchItem,
    GcBatch,
    GcFacts,
    GcItem,
    GcOptions,
    GcPlan,
    KeptItem,
    LockItem,
    LostRepositoryItem,
    RefItem,
    Removal,
    SetupCacheItem,
    TranscriptsItem,
    TrashItem,
    WorktreeItem,
    WorktreeUse,
)
from plait.git.gc.ref_inventory import RefNames
from plait.git.gc.removal_rules import plan_gc
from plait.git.gc.restore import RestoredBranch, SavedCommit, list_saved_commits, restore_branch
from plait.git.location import RepoLocation
from plait.git.worktrees.worktree__layout import WorkspaceLayout
from plait.git.worktrees.worktree__repository import Repository
from plait.store.project_files import open_state_paths

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
