"""What a batch with worktrees works with: its base, its workspaces, and where they lie."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from plait.config.config import Config
from plait.core.errors import UserError, WorldError
from plait.core.settings import Publish
from plait.git.location import RepoLocation

if TYPE_CHECKING:
    from plait.core.plan import Problem
    from plait.store.batch_inputs import PublishTarget
    from plait.store.interfaces import BranchMerger, Publisher, Workspaces

INTEGRATOR_FOLDER = "integrator"
PIN_FILE = "worktrees"  # in the state folder: where they were last


def find_git_dir(place: RepoLocation) -> Path:
    """The repository's own, shared by all its worktrees."""
    return place.state.parent


def resolve_base_commit(place: RepoLocation, ref: str | None) -> str:
    """The commit that a batch starts from. Raises UserError where there is none."""
    from plait.git.command import Git, GitError  # noqa: PLC0415 - only for whoever submits

    git = Git(place.top)
    try:
        return git.text("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref or 'HEAD'}^{{commit}}")
    except GitError as error:
        if ref is not None:
            raise UserError(
                f"there is no commit called {ref} here", hint="--base takes a branch, a tag or a commit."
            ) from error
        raise UserError(
            "this repository has no commit yet, and worktrees start from one",
            hint="Commit something first, or say --isolation in-place to work in the folder itself.",
        ) from error


def find_worktree_problems(place: RepoLocation, base: str) -> list[Problem]:
    """What a person should know of worktrees here. Raises UserError where there can be none."""
    from plait.git.worktrees.preconditions import check_preconditions  # noqa: PLC0415

    return check_preconditions(place.top, base)


def check_publish_target(place: RepoLocation, ship: PublishTarget, publish: Publish) -> None:
    """Raises UserError if a batch can't be published as it is asked for, as far as that can be told without a network."""
    from plait.forges.registry import open_forge  # noqa: PLC0415 - only for those who publish
    from plait.forges.remote__remote import find_remote  # noqa: PLC0415
    from plait.git.command import Git  # noqa: PLC0415

    git = Git(place.top)
    try:
        if publish is Publish.PUSH:
            find_remote(git, ship.remote)
        else:
            open_forge(git, ship.remote, environment=os.environ, kind=ship.forge.explicit)
    except WorldError as error:
        raise UserError(error.message, hint=error.hint) from error


def find_target_branch(place: RepoLocation, ship: PublishTarget) -> str:
    """The branch that a pull request would be for, as far as this repository knows it; empty: only the remote does."""
    from plait.git.command import Git  # noqa: PLC0415

    if ship.target or not place.repository:
        return ship.target
    prefix = f"refs/remotes/{ship.remote}/"
    known = Git(place.top).run("symbolic-ref", "--quiet", f"{prefix}HEAD", codes=range(256)).text
    return known.removeprefix(prefix) if known.startswith(prefix) else ""


def has_remote(place: RepoLocation, name: str) -> bool:
    from plait.git.command import Git  # noqa: PLC0415

    return bool(Git(place.top).run("config", "--get", f"remote.{name}.url", codes=(0, 1)).text)


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
    return find_worktrees_folder(place, config) / "setups"


def _find_location(common: Path, config: Config) -> Path:
    """A relative one counts from the repository, which all its checkouts share."""
    if config.workspace.location:
        around = common.parent if common.name == ".git" else common
        return around / Path(config.workspace.location).expanduser()
    from platformdirs import user_cache_path  # noqa: PLC0415

    return user_cache_path("plait", appauthor=False) / "worktrees"


def open_workspaces(place: RepoLocation, config: Config) -> Workspaces:
    from plait.git.worktrees.workspaces import GitWorkspaces  # noqa: PLC0415 - only for batches that have worktrees
    from plait.system import log  # noqa: PLC0415

    root = find_worktrees_folder(place, config)
    with suppress(OSError):  # whoever makes a workspace tells what is wrong
        (place.state / PIN_FILE).write_bytes(os.fsencode(root))
        if place.top in root.parents:  # or everything in it would show in the person's own checkout
            root.mkdir(parents=True, exist_ok=True)
            (root / ".gitignore").write_text("*\n")
    return GitWorkspaces(find_git_dir(place), root, keep=config.workspace.keep, on_warning=log.write_line)


def open_integrator(place: RepoLocation, config: Config) -> BranchMerger:
    from plait.git.merge.branch_merger import GitBranchMerger  # noqa: PLC0415
    from plait.git.merge.regeneration import build_regenerator  # noqa: PLC0415

    return GitBranchMerger(
        find_git_dir(place),
        place.state / INTEGRATOR_FOLDER,
        regenerate=build_regenerator(find_git_dir(place), find_worktrees_folder(place, config)),
    )


def open_publisher(place: RepoLocation) -> Publisher:
    from plait.forges.publisher import GitPublisher  # noqa: PLC0415 - only for batches that are published

    return GitPublisher(place)
