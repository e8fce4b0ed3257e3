"""What a batch with worktrees works with: its base, its workspaces, and where they lie."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from plait.config.model import Config
from plait.core.errors import UserError, WorldError
from plait.core.settings import Publish
from plait.wiring import Place

if TYPE_CHECKING:
    from plait.core.plan import Problem
    from plait.kit import Shipping
    from plait.ports import Integrator, Publisher, Workspaces

INTEGRATOR = "integrator"
PIN = "worktrees"  # in the state folder: where they were last


def git_dir(place: Place) -> Path:
    """The repository's own, shared by all its worktrees."""
    return place.state.parent


def base_commit(place: Place, ref: str | None) -> str:
    """The commit that a batch starts from. Raises UserError where there is none."""
    from plait.site.git import Git, GitError  # noqa: PLC0415 - only for whoever submits

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


def ground_problems(place: Place, base: str) -> list[Problem]:
    """What a person should know of worktrees here. Raises UserError where there can be none."""
    from plait.site.workspaces import check_ground  # noqa: PLC0415

    return check_ground(place.top, base)


def check_shipping(place: Place, ship: Shipping, publish: Publish) -> None:
    """Raises UserError if a batch can't be published as it is asked for, as far as that can be told without a network."""
    from plait.adapters.forge import open_forge  # noqa: PLC0415 - only for those who publish
    from plait.adapters.forge.remote import remote  # noqa: PLC0415
    from plait.site.git import Git  # noqa: PLC0415

    git = Git(place.top)
    try:
        if publish is Publish.PUSH:
            remote(git, ship.remote)
        else:
            open_forge(git, ship.remote, environment=os.environ, kind=ship.forge.named)
    except WorldError as error:
        raise UserError(error.message, hint=error.hint) from error


def target_branch(place: Place, ship: Shipping) -> str:
    """The branch that a pull request would be for, as far as this repository knows it; empty: only the remote does."""
    from plait.site.git import Git  # noqa: PLC0415

    if ship.target or not place.repository:
        return ship.target
    prefix = f"refs/remotes/{ship.remote}/"
    known = Git(place.top).run("symbolic-ref", "--quiet", f"{prefix}HEAD", codes=range(256)).text
    return known.removeprefix(prefix) if known.startswith(prefix) else ""


def has_remote(place: Place, name: str) -> bool:
    from plait.site.git import Git  # noqa: PLC0415

    return bool(Git(place.top).run("config", "--get", f"remote.{name}.url", codes=(0, 1)).text)


def worktrees_folder(place: Place, config: Config) -> Path:
    """Where this repository's worktrees lie, told from those of others by its name and its own path.

    As long as batches have some where they were made before, all are there, whatever the settings of today say.
    """
    common = git_dir(place).resolve()
    name = common.parent.name if common.name == ".git" else common.name.removesuffix(".git")
    digest = hashlib.sha256(os.fsencode(common)).hexdigest()[:8]
    wanted = _location(common, config) / f"{name or 'repository'}-{digest}"
    with suppress(OSError):
        pinned = Path(os.fsdecode((place.state / PIN).read_bytes()))
        if pinned != wanted and any(pinned.glob("batch-*")):
            return pinned
    return wanted


def setups_folder(place: Place, config: Config) -> Path:
    """Where what setups made is kept."""
    return worktrees_folder(place, config) / "setups"


def _location(common: Path, config: Config) -> Path:
    """A relative one counts from the repository, which all its checkouts share."""
    if config.workspace.location:
        around = common.parent if common.name == ".git" else common
        return around / Path(config.workspace.location).expanduser()
    from platformdirs import user_cache_path  # noqa: PLC0415

    return user_cache_path("plait", appauthor=False) / "worktrees"


def workspaces(place: Place, config: Config) -> Workspaces:
    from plait.engine import log  # noqa: PLC0415
    from plait.site.workspaces import GitWorkspaces  # noqa: PLC0415 - only for batches that have worktrees

    root = worktrees_folder(place, config)
    with suppress(OSError):  # whoever makes a workspace tells what is wrong
        (place.state / PIN).write_bytes(os.fsencode(root))
        if place.top in root.parents:  # or everything in it would show in the person's own checkout
            root.mkdir(parents=True, exist_ok=True)
            (root / ".gitignore").write_text("*\n")
    return GitWorkspaces(git_dir(place), root, keep=config.workspace.keep, told=log.say)


def integrator(place: Place, config: Config) -> Integrator:
    from plait.adapters.integrator import GitIntegrator  # noqa: PLC0415
    from plait.wiring.regenerating import regenerating  # noqa: PLC0415

    return GitIntegrator(
        git_dir(place),
        place.state / INTEGRATOR,
        regenerate=regenerating(git_dir(place), worktrees_folder(place, config)),
    )


def publisher(place: Place) -> Publisher:
    from plait.wiring.shipping import Shipyard  # noqa: PLC0415 - only for batches that are published

    return Shipyard(place)
