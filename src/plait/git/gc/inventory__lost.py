"""Workspaces of repositories that are gone: beside this one's, in the folder that all of a user's lie in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from plait.git.gc.items import LostRepositoryItem
from plait.git.worktrees.worktree import is_real_folder, read_gitdir_link
from plait.git.worktrees.worktree__layout import WorkspaceLayout, list_children
from plait.system.disk import tree_size


def list_lost_repositories(location: Path) -> Iterator[LostRepositoryItem]:
    """A folder of which every worktree names a repository that is not there; one without worktrees tells nothing."""
    for root in filter(is_real_folder, list_children(location)):
        homes = {
            _find_repository(each) for each in WorkspaceLayout(root).list_all() if is_real_folder(each)
        } - {None}
        named = [home for home in homes if home is not None]
        if named and not any(os.path.lexists(home) for home in named):
            yield LostRepositoryItem(str(root), str(min(named)), tree_size(root))


def _find_repository(folder: Path) -> Path | None:
    """<common>/worktrees/<id>, as the folder has it."""
    admin = read_gitdir_link(folder)
    return admin.parent.parent if admin is not None and admin.parent.name == "worktrees" else None
