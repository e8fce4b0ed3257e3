"""Checks of the repository before a batch is submitted: its base commit, worktrees, and the target of publishing."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from plait.core.errors import UserError, WorldError
from plait.core.settings import Publish
from plait.git.location import RepoLocation

if TYPE_CHECKING:
    from plait.core.plan import Problem
    from plait.store.batch_files import PublishTarget


def resolve_base_commit(place: RepoLocation, ref: str | None) -> str:
    """The commit that a batch starts from. Raises UserError where there is none."""
    from plait.git.command import Git, GitError  # only needed for a submission

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
    """What a person should know about worktrees here. Raises UserError if they can't be used."""
    from plait.git.worktrees.preconditions import check_preconditions

    return check_preconditions(place.top, base)


def check_publish_target(place: RepoLocation, ship: PublishTarget, publish: Publish) -> None:
    """Raises UserError if a batch can't be published as requested, as far as is known without a network."""
    from plait.forges.pull_requests import locate_forge
    from plait.forges.remote import find_remote
    from plait.git.command import Git

    git = Git(place.top)
    try:
        if publish is Publish.PUSH:
            find_remote(git, ship.remote)
        else:
            locate_forge(git, ship.remote, os.environ, ship.forge)
    except WorldError as error:
        raise UserError(error.message, hint=error.hint) from error


def find_target_branch(place: RepoLocation, ship: PublishTarget) -> str:
    """The branch that a pull request would be for, as far as this repository knows it; empty: only the remote does."""
    from plait.git.command import Git

    if ship.target or not place.repository:
        return ship.target
    prefix = f"refs/remotes/{ship.remote}/"
    known = Git(place.top).run("symbolic-ref", "--quiet", f"{prefix}HEAD", codes=range(256)).text
    return known.removeprefix(prefix) if known.startswith(prefix) else ""


def has_remote(place: RepoLocation, name: str) -> bool:
    from plait.git.command import Git

    return bool(Git(place.top).run("config", "--get", f"remote.{name}.url", codes=(0, 1)).text)
