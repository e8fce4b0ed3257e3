"""A worktree on its task's branch, without a word in the shared configuration: nothing is tracked."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from plait.core.errors import WorldError
from plait.site.git import LOCKED, GitError
from plait.site.workspaces.layout import children
from plait.site.workspaces.repository import Repository
from plait.site.workspaces.shelf import Shelf
from plait.site.workspaces.worktree import Worktree, home, small


def begin(shelf: Shelf, worktree: Worktree, branch: str, commit: str) -> None:
    """The branch at this commit, and the worktree on it. What the branch held before is saved, if nothing else holds it."""
    assert worktree.admin is not None
    repository, name = shelf.repository, f"refs/heads/{branch}"
    before = repository.commit(name)
    if before != commit:
        if before is not None:
            shelf.keep(before, leaving=name)
        _update(repository, name, commit, before or "0" * len(commit))
    repository.at(worktree.admin, worktree.folder).run("symbolic-ref", "-m", "plait: begun", "HEAD", name)


def head(worktree: Worktree) -> str:
    """What it is on: a ref, or a commit."""
    told = small(worktree.admin / "HEAD") if worktree.admin is not None else ""
    return told.rstrip("\n").removeprefix("ref: ")


def let_go(repository: Repository, worktree: Worktree) -> None:
    """The branch is nobody's any more: whoever wants to can check it out, or delete it."""
    commit = repository.commit(on) if (on := head(worktree)).startswith("refs/") else None
    if worktree.admin is not None and commit is not None:
        unlock(worktree)
        git = repository.at(worktree.admin, worktree.folder)
        git.run("update-ref", "--no-deref", "HEAD", commit)


def check_free(repository: Repository, root: Path, branch: str) -> None:
    """Git lets a branch be in one worktree only, for good reason: a commit in one changes the other's."""
    for admin in (repository.common, *children(repository.common / "worktrees")):
        if small(admin / "HEAD").rstrip("\n") != f"ref: refs/heads/{branch}":
            continue
        folder = _checkout(repository, admin)
        if folder is not None and folder.is_dir() and not folder.is_relative_to(root):
            raise WorldError(
                f"the branch {branch} is checked out in {folder}, so no workspace can be made for it",
                hint=f"Switch that checkout to another branch: git -C {folder} switch --detach",
            )


def _checkout(repository: Repository, admin: Path) -> Path | None:
    if admin != repository.common:
        return home(admin)
    bare = repository.git.run("config", "--bool", "core.bare", codes=(0, 1)).text == "true"
    return None if bare else repository.common.parent


def _update(repository: Repository, name: str, commit: str, before: str) -> None:
    """A lock that outlasts all patience was left by a git that died: nobody else writes this branch."""
    words = ("update-ref", "-m", "plait: begun", name, commit, before)
    try:
        repository.git.run(*words)
    except GitError:
        if repository.commit(name) == commit:  # somebody else began the same
            return
        if not _left(repository.common / f"{name}.lock"):
            raise
        repository.git.run(*words)


def _left(lock: Path) -> bool:
    with suppress(FileNotFoundError):
        if time.time() - lock.stat().st_mtime > LOCKED / 2:
            lock.unlink()
            return True
    return False


def unlock(worktree: Worktree) -> None:
    """Locks in a worktree in which nobody works any more were left by a git that was killed."""
    assert worktree.admin is not None
    for name in ("index.lock", "HEAD.lock"):
        (worktree.admin / name).unlink(missing_ok=True)
