"""A worktree on its task's branch, without a word in the shared configuration: nothing is tracked."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from plait.core.errors import WorldError
from plait.git.command import LOCK_WAIT_SECONDS, GitError
from plait.git.worktrees.saved_refs import SavedRefs
from plait.git.worktrees.worktree import (
    Repository,
    Worktree,
    list_children,
    read_small_file,
    read_worktree_path,
)


def start_branch(saved_refs: SavedRefs, worktree: Worktree, branch: str, commit: str) -> None:
    """The branch at this commit, and the worktree on it. What the branch held before is saved, if nothing else holds it."""
    assert worktree.admin is not None
    repository, name = saved_refs.repository, f"refs/heads/{branch}"
    before = repository.resolve_commit(name)
    if before != commit:
        if before is not None:
            saved_refs.keep_unreachable(before, moving_ref=name)
        _update_ref(repository, name, commit, before or "0" * len(commit))
    repository.git_at(worktree.admin, worktree.folder).run("symbolic-ref", "-m", "plait: begun", "HEAD", name)


def read_head_ref(worktree: Worktree) -> str:
    """What it is on: a ref, or a commit."""
    told = read_small_file(worktree.admin / "HEAD") if worktree.admin is not None else ""
    return told.rstrip("\n").removeprefix("ref: ")


def detach_head(repository: Repository, worktree: Worktree) -> None:
    """The branch is nobody's any more: whoever wants to can check it out, or delete it."""
    commit = repository.resolve_commit(on) if (on := read_head_ref(worktree)).startswith("refs/") else None
    if worktree.admin is not None and commit is not None:
        remove_stale_locks(worktree)
        git = repository.git_at(worktree.admin, worktree.folder)
        git.run("update-ref", "--no-deref", "HEAD", commit)


def ensure_not_checked_out(repository: Repository, root: Path, branch: str) -> None:
    """Git lets a branch be in one worktree only, for good reason: a commit in one changes the other's."""
    for admin in (repository.common, *list_children(repository.common / "worktrees")):
        if read_small_file(admin / "HEAD").rstrip("\n") != f"ref: refs/heads/{branch}":
            continue
        folder = _find_checkout(repository, admin)
        if folder is not None and folder.is_dir() and not folder.is_relative_to(root):
            raise WorldError(
                f"the branch {branch} is checked out in {folder}, so no workspace can be made for it",
                hint=f"Switch that checkout to another branch: git -C {folder} switch --detach",
            )


def _find_checkout(repository: Repository, admin: Path) -> Path | None:
    if admin != repository.common:
        return read_worktree_path(admin)
    bare = repository.git.run("config", "--bool", "core.bare", codes=(0, 1)).text == "true"
    return None if bare else repository.common.parent


def _update_ref(repository: Repository, name: str, commit: str, before: str) -> None:
    """A lock that outlasts all patience was left by a git that died: nobody else writes this branch."""
    words = ("update-ref", "-m", "plait: begun", name, commit, before)
    try:
        repository.git.run(*words)
    except GitError:
        if repository.resolve_commit(name) == commit:  # somebody else began the same
            return
        if not _remove_stale_lock(repository.common / f"{name}.lock"):
            raise
        repository.git.run(*words)


def _remove_stale_lock(lock: Path) -> bool:
    with suppress(FileNotFoundError):
        if time.time() - lock.stat().st_mtime > LOCK_WAIT_SECONDS / 2:
            lock.unlink()
            return True
    return False


def remove_stale_locks(worktree: Worktree) -> None:
    """Locks in a worktree in which nobody works any more were left by a git that was killed."""
    assert worktree.admin is not None
    for name in ("index.lock", "HEAD.lock"):
        (worktree.admin / name).unlink(missing_ok=True)
