"""Makes, pools, reuses and discards worktrees, and puts them on branches. Each step is a rename under the repository's lock.

A crash in between leaves something in `making` or `trash`, which the next plait cleans up: work is in a task's own place, and
leaves it when it is saved. What someone changes in a pooled worktree is saved before the worktree is used again or discarded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from plait.core.errors import WorldError, describe_error
from plait.git.command import LOCK_WAIT_SECONDS, GitError
from plait.git.refs import (
    has_ref_files,
    may_have_ref,
    read_loose_ref,
    remove_blank_ref,
    remove_stale_lock,
    task_branch,
)
from plait.git.worktrees.checkout import wipe_files
from plait.git.worktrees.metadata import (
    LeaseMetadata,
    find_checkouts,
    is_real_folder,
    read_gitdir_link,
    read_lease,
    read_worktree_path,
    write_gitdir_link,
    write_worktree_path,
)
from plait.git.worktrees.saved_work import SavedRefs, save_workspace
from plait.git.worktrees.worktree import (
    Repository,
    WorkspaceLayout,
    Worktree,
    find_worktree,
    list_children,
    new_worktree_id,
)
from plait.system import flock
from plait.system.atomic_files import make_private_folder, replace_file
from plait.system.disk import remove_tree


class UnsavedError(WorldError):
    """Changes in a worktree can't be saved, so the worktree must stay."""


_GATE = "gate"  # in the place of a task's name
_POOLED_REF = "refs/worktree/plait-pooled"  # what HEAD was at when the worktree was pooled


class WorktreePool:
    """The worktrees of a repository, of which at most `keep` wait for another task."""

    def __init__(self, repository: Repository, layout: WorkspaceLayout, keep: int) -> None:
        self._repository = repository
        self._layout = layout
        self._keep = keep

    @contextmanager
    def acquire(self, lease: LeaseMetadata, commit: str, *, new: bool) -> Iterator[tuple[Worktree, bool]]:
        """Yield a worktree to check out files in, and whether it was used before. The caller installs it; otherwise it
        is discarded.
        """
        with self._repository.lock():
            taken = None if new else self._take_pooled(lease)
            worktree, fd = taken or self._add_worktree(commit)
        try:
            yield worktree, taken is not None
        except UnsavedError:
            with self._repository.lock():
                worktree.move(self._layout.pool / worktree.folder.name)
            raise
        except BaseException:
            self.discard(worktree)
            raise
        finally:
            os.close(fd)

    def install(self, worktree: Worktree, folder: Path) -> bool:
        """Move a worktree to its folder. False if another process put one there meanwhile; this one is discarded then."""
        with self._repository.lock():
            if not os.path.lexists(folder):
                worktree.move(folder)
                return True
        self.discard(worktree)
        return False

    def release(self, worktree: Worktree, *, wipe: bool) -> None:
        """Pool a worktree whose work is saved; discard it if it is damaged or has submodules.

        `wipe`: its files are not those of its commit. A pooled worktree has no changes, unless someone makes some
        later.
        """
        if self._is_reusable(worktree) and (not wipe or self._wipe(worktree)):
            with self._repository.lock():
                if worktree.valid_gitdir is not None:  # unless another process released it meanwhile
                    worktree = worktree.move(self._layout.pool / worktree.valid_gitdir.name)
                    _detach_head(self._repository, worktree)
        else:
            self.discard(worktree)
        self.trim(self._keep)

    def trim(self, keep: int) -> None:
        """Discard the worktrees that waited longest, except those that are in use or have changes that can't be saved."""
        waiting = sorted(filter(is_real_folder, list_children(self._layout.pool)), key=_pooled_at)
        for folder in waiting[: max(0, len(waiting) - keep)]:
            with _hold(folder) as is_held, suppress(UnsavedError):
                if is_held:
                    worktree = Worktree(folder, self._find_gitdir(folder))
                    save_edits(self._repository, worktree)
                    self.discard(worktree)

    def _wipe(self, worktree: Worktree) -> bool:
        """Reset a worktree's files; False if git can't."""
        try:
            wipe_files(self._repository, worktree)
        except GitError:
            return False
        return True

    def discard(self, worktree: Worktree) -> None:
        """Move a worktree to the trash, to be deleted later. It may be missing already, or in part."""
        with self._repository.lock():
            self._move_to_trash(worktree)

    def clean_up_abandoned(self) -> None:
        """Finish what killed processes were doing: making, releasing or discarding a worktree."""
        with self._repository.lock():
            for folder in list_children(self._layout.making):
                if not is_real_folder(folder) or not flock.is_folder_locked(folder):  # its maker has died
                    worktree = Worktree(folder, self._find_gitdir(folder))
                    with suppress(UnsavedError):
                        save_edits(self._repository, worktree)  # it may have come from the pool just then
                        self._move_to_trash(worktree)
            for folder in list_children(self._layout.pool):
                _detach_head(self._repository, Worktree(folder, self._find_gitdir(folder)))
            for gitdir in self._repository.worktree_gitdirs:
                if self._is_stray(gitdir):
                    self._move_to_trash(Worktree(gitdir / "gone", gitdir))

    def _is_stray(self, gitdir: Path) -> bool:
        """Whether the folder of this gitdir was being moved and is missing, also where it came from."""
        folder, lease = read_worktree_path(gitdir), read_lease(gitdir)
        transit_folders = (self._layout.making, self._layout.pool, self._layout.trash)
        if folder is None or folder.parent not in transit_folders or os.path.lexists(folder):
            return False
        origins = [self._layout.making / gitdir.name, self._layout.pool / gitdir.name]
        if lease is not None:
            origins.append(self._layout.workspace(lease.batch, lease.task))
        return all(read_gitdir_link(origin) != gitdir for origin in origins)

    def empty_trash(self) -> None:
        """Delete what can be deleted, except what another process is deleting."""
        for trash in (self._layout.trash, self._repository.trash):
            for path in list_children(trash):
                with suppress(OSError):
                    _delete(path)

    def _is_reusable(self, worktree: Worktree) -> bool:
        if worktree.valid_gitdir is None or not self._keep or (worktree.valid_gitdir / "modules").exists():
            return False
        worktree.remove_stale_locks()
        return self._repository.git.resolve_commit(worktree.read_head()) is not None

    def _take_pooled(self, lease: LeaseMetadata) -> tuple[Worktree, int] | None:
        """Take a pooled worktree with the same sparse folders and lock it; None if there is none. One whose setup made
        the same outputs is preferred, then the last released.
        """
        candidates: list[tuple[bool, float, Worktree]] = []
        for folder in list_children(self._layout.pool):
            worktree = find_worktree(self._repository, folder)
            pooled_lease = worktree.read_lease() if worktree is not None and worktree.valid_gitdir is not None else None
            if worktree is not None and pooled_lease is not None and pooled_lease.sparse == lease.sparse:
                candidates.append((pooled_lease.makes == lease.makes, _pooled_at(folder), worktree))
        for _, _, worktree in sorted(candidates, key=lambda candidate: candidate[:2], reverse=True):
            fd = flock.try_lock_folder(worktree.folder)
            if fd is not None:
                return worktree.move(self._layout.making / worktree.folder.name), fd
        return None

    def _add_worktree(self, commit: str) -> tuple[Worktree, int]:
        name = new_worktree_id()
        folder = self._layout.making / name
        make_private_folder(folder)
        fd = flock.try_lock_folder(folder)
        assert fd is not None
        try:
            args = ("worktree", "add", "--quiet", "--no-checkout", "--detach", str(folder), commit)
            self._repository.git.run(*args)
        except BaseException:
            os.close(fd)
            self._move_to_trash(Worktree(folder, self._find_gitdir(folder)))
            raise
        return Worktree(folder, self._repository.worktree_gitdir(name)), fd

    def _find_gitdir(self, folder: Path) -> Path | None:
        """Find the gitdir of a folder in transit: it has the same name as the folder."""
        gitdir = self._repository.worktree_gitdir(folder.name)
        return gitdir if gitdir.is_dir() else None

    def _move_to_trash(self, worktree: Worktree) -> None:
        name = worktree.gitdir.name if worktree.gitdir is not None else new_worktree_id()
        for path, trash in ((worktree.folder, self._layout.trash), (worktree.gitdir, self._repository.trash)):
            if path is not None and os.path.lexists(path):
                make_private_folder(trash)
                path.rename(trash / (new_worktree_id() if os.path.lexists(trash / name) else name))


def save_edits(repository: Repository, worktree: Worktree) -> None:
    """Save what someone changed in a worktree that no task has, under the task that had it last.

    Raises UnsavedError if that can't be done.
    """
    gitdir, lease = worktree.valid_gitdir, worktree.read_lease()
    if gitdir is None:
        return
    batch, task = (lease.batch, lease.task or _GATE) if lease is not None else ("pool", gitdir.name)
    try:
        save_workspace(SavedRefs(repository, batch, task), worktree.folder)
    except (WorldError, OSError) as error:
        raise UnsavedError(f"what is in {worktree.folder} can't be saved: {describe_error(error)}") from error


def save_commits(repository: Repository, worktree: Worktree) -> None:
    """Save commits that someone made in a pooled worktree, where HEAD is on no branch."""
    lease, head = worktree.read_lease(), worktree.read_head()
    ref = f"refs/heads/{task_branch(lease.batch, lease.task)}" if lease is not None else "refs/heads/"
    known = {lease.base if lease is not None else "", read_loose_ref(repository.common, ref)}
    if worktree.gitdir is not None:
        known.add(read_loose_ref(worktree.gitdir, _POOLED_REF))
    if head not in known and head != repository.git.resolve_commit(ref):
        save_edits(repository, worktree)


def adopt_folder(repository: Repository, layout: WorkspaceLayout, folder: Path, branch: str) -> Worktree:
    """Make a folder that git no longer knows a worktree at this branch, so that its changes can be seen; at HEAD if
    there is no such branch.

    Its files are not changed. The caller holds the repository's lock.
    """
    commit = repository.git.resolve_commit(f"refs/heads/{branch}") or repository.git.resolve_commit("HEAD")
    if commit is None:
        raise WorldError(f"there is no commit to compare {folder} with")
    temporary = layout.making / new_worktree_id()
    make_private_folder(temporary.parent)
    repository.git.run("worktree", "add", "--quiet", "--no-checkout", "--detach", str(temporary), commit)
    gitdir = repository.worktree_gitdir(temporary.name)
    repository.git_at(gitdir, folder).run("read-tree", commit)
    write_worktree_path(gitdir, folder)
    if not os.path.lexists(folder / ".git"):
        write_gitdir_link(folder, gitdir)
    remove_tree(temporary)
    return Worktree(folder, gitdir)


def start_branch(saved_refs: SavedRefs, worktree: Worktree, branch: str, commit: str) -> None:
    """Set the branch to this commit and put the worktree on it, unless that was done; save commits that only the branch
    held.

    The shared configuration is not changed: no upstream is set.
    """
    assert worktree.gitdir is not None
    repository, name = saved_refs.repository, f"refs/heads/{branch}"
    if worktree.read_head() == name and read_loose_ref(repository.common, name) == commit:
        return
    before = repository.git.resolve_commit(name) if may_have_ref(repository.common, name) else None
    if before != commit:
        if before is not None:
            saved_refs.keep_unreachable(before, moving_ref=name)
        _update_ref(repository, name, commit, before or "0" * len(commit))
    if has_ref_files(repository.common):  # as git does, without a process
        replace_file(worktree.gitdir / "HEAD", f"ref: {name}\n".encode(), mode=0o666)
    else:
        repository.git_at(worktree.gitdir, worktree.folder).run("symbolic-ref", "-m", "plait: begun", "HEAD", name)


def _update_ref(repository: Repository, name: str, commit: str, before: str) -> None:
    """Update the ref, even if its commit is missing.

    A lock that outlasts git's retries was left by a killed git, since only plait writes this branch.
    """
    args = ("update-ref", "-m", "plait: begun", name, commit)
    remove_blank_ref(repository.common, name)
    try:
        repository.git.run(*args, before)
    except GitError:
        if repository.git.resolve_commit(name) == commit:  # another process did the same
            return
        gone = repository.git.read_dead_ref(name)
        if not remove_stale_lock(repository.common, name, LOCK_WAIT_SECONDS / 2) and not gone:
            raise
        repository.git.run(*args, gone or before)


def ensure_not_checked_out(repository: Repository, root: Path, branch: str) -> None:
    """Raise WorldError if the branch is checked out outside of `root`: git allows one worktree per branch."""
    for folder in find_checkouts(repository.common, f"refs/heads/{branch}"):
        has_files = folder.is_dir() and not folder.is_relative_to(
            repository.common
        )  # else bare, or its folder is unknown
        if has_files and not folder.is_relative_to(root):
            raise WorldError(
                f"branch {branch} is checked out in {folder}, so plait cannot make a workspace for it",
                hint=f"Switch that checkout to another branch: git -C {folder} switch --detach",
            )


def _detach_head(repository: Repository, worktree: Worktree) -> None:
    """Detach HEAD, so that the branch can be checked out elsewhere or deleted.

    A ref of the worktree's own holds the commit, so that it doesn't count as someone's change when the branch no longer
    exists.
    """
    commit = repository.git.resolve_commit(ref) if (ref := worktree.read_head()).startswith("refs/") else None
    if worktree.gitdir is not None and commit is not None:
        worktree.remove_stale_locks()
        git = repository.git_at(worktree.gitdir, worktree.folder)
        feed = f"option no-deref\nupdate HEAD {commit}\nupdate {_POOLED_REF} {commit}\n"
        git.run("update-ref", "--stdin", stdin=feed.encode())


def _pooled_at(folder: Path) -> float:
    """Return the time of the release: moving a folder changes its ctime."""
    try:
        return folder.lstat().st_ctime
    except FileNotFoundError:
        return 0.0


@contextmanager
def _hold(folder: Path) -> Iterator[bool]:
    """Keep others from taking or deleting a folder; yield False if another process holds it, or if it no longer exists."""
    fd = None
    try:
        with suppress(FileNotFoundError):
            fd = flock.try_lock_folder(folder)
        yield fd is not None and flock.is_same_file(folder, fd)
    finally:
        if fd is not None:
            os.close(fd)


def _delete(path: Path) -> None:
    if not is_real_folder(path):
        remove_tree(path)
        return
    with _hold(path) as is_held:
        if is_held:
            remove_tree(path)
