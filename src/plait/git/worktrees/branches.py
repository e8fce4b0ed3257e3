"""Puts worktrees on their tasks' branches, without touching the shared configuration (no upstream is set)."""

from __future__ import annotations

from pathlib import Path

from plait.core.errors import WorldError
from plait.git.command import LOCK_WAIT_SECONDS, GitError
from plait.git.refs import find_admins_on, remove_stale_lock
from plait.git.worktrees.saved_work import SavedRefs
from plait.git.worktrees.worktree import (
    Repository,
    Worktree,
    read_small_file,
    read_worktree_path,
)


def start_branch(saved_refs: SavedRefs, worktree: Worktree, branch: str, commit: str) -> None:
    """Put the branch at this commit and the worktree on it; saves commits that only the branch held."""
    assert worktree.admin is not None
    repository, name = saved_refs.repository, f"refs/heads/{branch}"
    before = repository.git.resolve_commit(name)
    if before != commit:
        if before is not None:
            saved_refs.keep_unreachable(before, moving_ref=name)
        _update_ref(repository, name, commit, before or "0" * len(commit))
    repository.git_at(worktree.admin, worktree.folder).run("symbolic-ref", "-m", "plait: begun", "HEAD", name)


def read_head_ref(worktree: Worktree) -> str:
    """What HEAD holds: a ref, or a commit."""
    head = read_small_file(worktree.admin / "HEAD") if worktree.admin is not None else ""
    return head.rstrip("\n").removeprefix("ref: ")


def detach_head(repository: Repository, worktree: Worktree) -> None:
    """Detach HEAD, so that the branch can be checked out elsewhere or deleted."""
    commit = repository.git.resolve_commit(on) if (on := read_head_ref(worktree)).startswith("refs/") else None
    if worktree.admin is not None and commit is not None:
        remove_stale_locks(worktree)
        git = repository.git_at(worktree.admin, worktree.folder)
        git.run("update-ref", "--no-deref", "HEAD", commit)


def ensure_not_checked_out(repository: Repository, root: Path, branch: str) -> None:
    """Raise WorldError if the branch is checked out outside of `root`: git allows one worktree per branch."""
    for admin in find_admins_on(repository.common, f"refs/heads/{branch}"):
        folder = _find_checkout(repository, admin)
        if folder is not None and folder.is_dir() and not folder.is_relative_to(root):
            raise WorldError(
                f"branch {branch} is checked out in {folder}, so plait cannot make a workspace for it",
                hint=f"Switch that checkout to another branch: git -C {folder} switch --detach",
            )


def _find_checkout(repository: Repository, admin: Path) -> Path | None:
    if admin != repository.common:
        return read_worktree_path(admin)
    return None if repository.git.read_bool("core.bare") else repository.common.parent


def _update_ref(repository: Repository, name: str, commit: str, before: str) -> None:
    """Update the ref; a lock that outlasts git's retries was left by a killed git, since only plait writes this branch."""
    args = ("update-ref", "-m", "plait: begun", name, commit, before)
    try:
        repository.git.run(*args)
    except GitError:
        if repository.git.resolve_commit(name) == commit:  # another process did the same
            return
        if not remove_stale_lock(repository.common, name, LOCK_WAIT_SECONDS / 2):
            raise
        repository.git.run(*args)


def remove_stale_locks(worktree: Worktree) -> None:
    """Remove locks in a worktree that no one works in: a killed git left them."""
    assert worktree.admin is not None
    for name in ("index.lock", "HEAD.lock"):
        (worktree.admin / name).unlink(missing_ok=True)
