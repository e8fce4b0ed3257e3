"""Workspaces of repositories that are gone: beside this one's, in the folder that all of a user's lie in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from plait.adapters.attic.model import Lost
from plait.site.outfitting import tree_size
from plait.site.workspaces.layout import Layout, children
from plait.site.workspaces.worktree import is_folder, pointer


def lost(location: Path) -> Iterator[Lost]:
    """A folder of which every worktree names a repository that is not there; one without worktrees tells nothing."""
    for root in filter(is_folder, children(location)):
        homes = {_repository(each) for each in Layout(root).all() if is_folder(each)} - {None}
        named = [home for home in homes if home is not None]
        if named and not any(os.path.lexists(home) for home in named):
            yield Lost(str(root), str(min(named)), tree_size(root))


def _repository(folder: Path) -> Path | None:
    """<common>/worktrees/<id>, as the folder has it."""
    admin = pointer(folder)
    return admin.parent.parent if admin is not None and admin.parent.name == "worktrees" else None
