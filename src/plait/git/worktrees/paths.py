from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

from plait.config.config import Config
from plait.git.location import RepoLocation
from plait.git.worktrees.worktree import WorkspaceLayout

PIN_FILE = "worktrees"  # in the state folder: where they were last


def find_git_dir(place: RepoLocation) -> Path:
    """The repository's own, shared by all its worktrees."""
    return place.state.parent


def find_worktrees_folder(place: RepoLocation, config: Config) -> Path:
    """Where this repository's worktrees lie, told from those of others by its name and its own path.

    As long as batches have some where they were made before, all are there, whatever the settings of today say.
    """
    common = find_git_dir(place).resolve()
    name = common.parent.name if common.name == ".git" else common.name.removesuffix(".git")
    digest = hashlib.sha256(os.fsencode(common)).hexdigest()[:8]
    wanted = _find_location(common, config) / f"{name or 'repository'}-{digest}"
    with suppress(OSError):
        pinned = Path(os.fsdecode((place.state / PIN_FILE).read_bytes()))
        if pinned != wanted and any(pinned.glob("batch-*")):
            return pinned
    return wanted


def find_setups_folder(place: RepoLocation, config: Config) -> Path:
    """Where what setups made is kept."""
    return WorkspaceLayout(find_worktrees_folder(place, config)).setups


def _find_location(common: Path, config: Config) -> Path:
    """A relative one counts from the repository, which all its checkouts share."""
    if config.workspace.location:
        around = common.parent if common.name == ".git" else common
        return around / Path(config.workspace.location).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("plait", appauthor=False) / "worktrees"
