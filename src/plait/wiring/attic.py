"""What batches leave behind: for `plait gc`."""

from __future__ import annotations

from collections.abc import Callable

from plait.adapters.attic.attic import Attic, Known
from plait.adapters.attic.heads import Names
from plait.adapters.attic.model import (
    Batch,
    Branch,
    Cleanup,
    Facts,
    Folder,
    Item,
    Kept,
    Lock,
    Lost,
    Ref,
    Setups,
    Thing,
    Transcripts,
    Trash,
    Use,
    Wish,
    Worktree,
)
from plait.adapters.attic.plan import plan_cleanup
from plait.adapters.attic.restoring import Restored, Saved, restore, saved
from plait.config.model import Config
from plait.site.git import Git
from plait.site.workspaces.layout import Layout
from plait.site.workspaces.repository import Repository
from plait.wiring import Place, state_folder
from plait.wiring.repository import git_dir, worktrees_folder

__all__ = [
    "Attic",
    "Batch",
    "Branch",
    "Cleanup",
    "Facts",
    "Folder",
    "Item",
    "Kept",
    "Known",
    "Lock",
    "Lost",
    "Names",
    "Ref",
    "Restored",
    "Saved",
    "Setups",
    "Thing",
    "Transcripts",
    "Trash",
    "Use",
    "Wish",
    "Worktree",
    "plan_cleanup",
    "restore",
    "saved",
]


def attic(place: Place, config: Config, known: Callable[[], Known]) -> Attic:
    layout = Layout(worktrees_folder(place, config).resolve())
    return Attic(Repository(git_dir(place)), layout, state_folder(place), known)


def repository_git(place: Place) -> Git:
    """Git in the repository's own folder, whichever of its worktrees this is."""
    return Repository(git_dir(place)).git
