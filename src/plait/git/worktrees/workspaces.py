"""Workspaces as git worktrees on this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from plait.core.errors import UserError, WorldError
from plait.core.task import Attempt, Step
from plait.git import refs
from plait.git.command import GitError
from plait.git.interfaces import CapturedChange, CaptureOptions, WorkspaceSetup
from plait.git.worktrees import checkout
from plait.git.worktrees.agent_worktree import VIEW_FOLDER, was_replaced
from plait.git.worktrees.metadata import LeaseMetadata, is_real_folder, write_lease
from plait.git.worktrees.pool import (
    UnsavedError,
    WorktreePool,
    adopt_folder,
    ensure_not_checked_out,
    save_commits,
    save_edits,
    start_branch,
)
from plait.git.worktrees.preconditions import LOCATION_HINT
from plait.git.worktrees.saved_work import SavedRefs, save_worktree
from plait.git.worktrees.worktree import (
    SIDE_MARK,
    Repository,
    WorkspaceLayout,
    Worktree,
    find_worktree,
    list_children,
)
from plait.system.disk import DiskUsageCache
from plait.system.own_folder import require_own_folder

DEFAULT_POOL_SIZE = 4


class GitWorkspaces:
    """The worktrees in which tasks work on this machine. Thread-safe.

    A workspace is leased to its task until it is released. Every operation can be repeated, also after a crash. An agent's
    work is never lost: it is in a commit under refs/plait before anything is reset or removed.

    `git_dir` is the repository's common git folder, `root` a folder for its workspaces alone. `keep` worktrees are pooled for
    the next tasks. `on_warning` gets problems of a workspace that is usable nevertheless.
    """

    def __init__(
        self,
        git_dir: Path,
        root: Path,
        *,
        keep: int = DEFAULT_POOL_SIZE,
        environment: Mapping[str, str] | None = None,
        on_warning: Callable[[str], None] | None = None,
    ) -> None:
        for path in (git_dir, root):
            if "\n" in str(path):
                raise UserError(
                    f"a workspace's path must not contain a line break: {str(path)!r}",
                    hint="Rename the folder, or set [workspace] location to another one.",
                )
        self._repository = Repository(git_dir, environment)
        self._root = root
        self._layout = WorkspaceLayout(Path(os.path.realpath(root)))
        self._pool = WorktreePool(self._repository, self._layout, keep)
        self._sizes = DiskUsageCache()
        self._warn = on_warning or (lambda _: None)
        self._is_cleaned_up = False

    @property
    def git_dir(self) -> Path:
        """Return the repository's common git folder."""
        return self._repository.common

    @property
    def root(self) -> Path:
        """Return the folder of all worktrees."""
        return self._layout.root

    def path(self, batch: str, task: str) -> str:
        """Return the path where the task works, or the gate (task ""), whether or not it exists yet."""
        return str(self._layout.workspace(batch, task))

    def prepare(self, batch: str, task: str, base: str, setup: WorkspaceSetup, *, top: str) -> str:
        """Prepare the task's worktree on its own branch: new from `base`, or as its last attempt left it. Returns its
        path.

        `top` is the checkout that ignored files are copied from.
        """
        folder, branch = self._layout.task(batch, task), refs.task_branch(batch, task)
        lease = self._make_lease(batch, task, base, setup)
        self._clean_up_once()
        replaced = was_replaced(self._repository, folder)
        worktree = find_worktree(self._repository, folder)
        if worktree is not None and _has_same_start(worktree, lease) and not replaced:
            worktree.remove_stale_locks()
        else:
            start = self._choose_start(worktree, lease, branch)
            ensure_not_checked_out(self._repository, self._layout.root, branch)
            if worktree is not None:
                self._save_and_release(worktree, batch, task)
            self._make_worktree(folder, lease, start, branch)
        self._populate_submodules(folder, top)
        return str(folder)

    def capture(self, attempt: Attempt, base: str, options: CaptureOptions) -> CapturedChange:
        """Commit everything an attempt left on the task's branch and under the attempt's ref."""
        from plait.git.worktrees.capture import capture  # not needed to prepare workspaces

        return capture(self._repository, self._layout.task(attempt.batch, attempt.task), attempt, base, options)

    def save_results(self, batch: str, task: str, taken: Collection[Attempt], base: str) -> None:
        """Save the commits of a task's attempts, except those of `taken` and the base itself, as saved work of the
        task.
        """
        folder = refs.attempt_ref(Attempt(batch, task, Step.WRITE, 1)).rpartition("/")[0]
        known = {refs.attempt_ref(attempt) for attempt in taken}
        if refs.may_have_ref(self._repository.common, folder):
            rows = self._repository.git.text("for-each-ref", "--format=%(objectname) %(refname)", f"{folder}/")
            for commit, ref in (row.split(" ", 1) for row in rows.splitlines()):
                if ref not in known and commit != base:
                    SavedRefs(self._repository, batch, task).keep(commit)

    def preview_commit(self, batch: str, task: str, base: str) -> str | None:
        """Return what the task would leave if it stopped now, as a commit that no ref holds; None if nothing differs
        yet.
        """
        from plait.git.worktrees.capture import preview_commit  # not needed to prepare workspaces

        return preview_commit(self._repository, self._layout.task(batch, task), refs.task_branch(batch, task), base)

    def reset(self, attempt: Attempt, tip: str) -> None:
        """Reset the workspace to what was captured, after a check. Work that the check left is saved."""
        from plait.git.worktrees.capture import reset_workspace  # not needed to prepare workspaces

        reset_workspace(self._repository, self._layout.task(attempt.batch, attempt.task), attempt, tip)

    def checkout(self, batch: str, commit: str, setup: WorkspaceSetup, *, top: str, place: str = "") -> str:
        """Check out exactly this commit in a worktree for processes that leave no work to save; return its path.

        It is the batch's own, for its gate, or one in `place`, beside a task's workspace.
        """
        folder = Path(place) if place else self._layout.gate(batch)
        if place and (folder.parent != self._layout.batch(batch) or SIDE_MARK not in folder.name):
            raise WorldError(f"{place} is not beside a workspace of batch {batch}")
        lease = self._make_lease(batch, "", commit, setup)
        self._clean_up_once()
        worktree = find_worktree(self._repository, folder)
        if worktree is None or not _has_same_start(worktree, lease) or not self._is_clean(worktree, lease):
            if worktree is not None:
                self._release_unsaved(worktree)
            self._make_worktree(folder, lease, lease.base, "")
        self._populate_submodules(folder, top)
        return str(folder)

    def release(self, batch: str, task: str) -> None:
        """Release the workspace of a task that has ended, after saving what is not in a ref.

        The checkouts beside it are released first: after a crash, the task's folder shows that they have yet to be.
        """
        self._release_side_checkouts(batch, task)
        worktree = find_worktree(self._repository, self._layout.task(batch, task))
        if worktree is not None:
            self._save_and_release(worktree, batch, task)
        self._pool.empty_trash()

    def release_gate(self, batch: str) -> None:
        """Release the worktree of a batch that has ended, and whatever is left beside those of its tasks."""
        self._release_side_checkouts(batch)
        worktree = find_worktree(self._repository, self._layout.gate(batch))
        if worktree is not None:
            self._pool.release(worktree, wipe=True)
        with suppress(OSError):
            self._layout.batch(batch).rmdir()
        self._pool.clean_up_abandoned()
        self._pool.empty_trash()

    def _release_side_checkouts(self, batch: str, task: str | None = None) -> None:
        for folder in self._layout.list_side_checkouts(batch, task):
            worktree = find_worktree(self._repository, folder)
            if worktree is not None:
                self._release_unsaved(worktree)

    def _release_unsaved(self, worktree: Worktree) -> None:
        """Release a worktree whose changes and commits are no work, and must not be mistaken for later changes by
        someone.
        """
        lease = worktree.read_lease()
        if worktree.valid_gitdir is not None and lease is not None:
            git = self._repository.git_at(worktree.valid_gitdir, worktree.folder)
            git.run("update-ref", "--no-deref", "HEAD", lease.base)
        self._pool.release(worktree, wipe=True)

    def measure_disk_usage(self) -> int:
        """Measure the size on disk of all workspaces of this repository, in bytes."""
        git_folders = (*self._repository.worktree_gitdirs, *list_children(self._repository.trash))
        return self._sizes.total((*self._layout.list_all(), *git_folders))

    def trim_pool(self, keep: int = 0) -> None:
        """Remove pooled worktrees down to `keep`."""
        self._pool.trim(keep)
        self._pool.empty_trash()

    def _make_lease(self, batch: str, task: str, base: str, setup: WorkspaceSetup) -> LeaseMetadata:
        sparse = checkout.normalize_sparse_folders(setup.sparse)
        # Whether a commit is there is seen when it is checked out: asking takes git a process.
        commit = base if refs.OBJECT_ID.match(base) else self._resolve(base)
        return LeaseMetadata(batch, task, commit, setup.makes, sparse)

    def _resolve(self, name: str) -> str:
        commit = self._repository.git.resolve_commit(name)
        if commit is None:
            raise WorldError(
                f"{self._repository.common} has no commit {name}",
                hint="Fetch it. If a merged result was deleted, the engine's log names its task: retry or drop that first.",
            )
        return commit

    def _clean_up_once(self) -> None:
        if not self._is_cleaned_up:
            require_own_folder(self._root, hint=LOCATION_HINT)
            self._pool.clean_up_abandoned()
            self._is_cleaned_up = True

    def _choose_start(self, worktree: Worktree | None, lease: LeaseMetadata, branch: str) -> str:
        """Return the tip of the task's branch if its folder was removed after it had started; its base otherwise."""
        previous = worktree.read_lease() if worktree is not None else None
        if previous is None or not previous.has_same_start(lease):
            return lease.base
        tip = self._repository.git.resolve_commit(f"refs/heads/{branch}")
        return tip if tip is not None and self._repository.git.is_ancestor(lease.base, tip) else lease.base

    def _make_worktree(
        self, folder: Path, lease: LeaseMetadata, commit: str, branch: str, *, new: bool = False
    ) -> None:
        used = False
        try:
            with self._pool.acquire(lease, commit, new=new) as (worktree, used):
                save = partial(save_edits, self._repository, worktree) if used else None
                if used:
                    save_commits(self._repository, worktree)
                is_new = branch and not refs.may_have_ref(self._repository.common, f"refs/heads/{branch}")
                new_branch = branch if is_new else ""
                checkout.check_out_files(self._repository, worktree, lease, commit, save, new_branch=new_branch)
                if branch:
                    saved_refs = SavedRefs(self._repository, lease.batch, lease.task)
                    start_branch(saved_refs, worktree, branch, commit)
                self._pool.install(worktree, folder)
        except (GitError, UnsavedError):
            self._resolve(commit)
            if not used:
                raise
            # Its last task may have left what git can't remove.
            self._make_worktree(folder, lease, commit, branch, new=True)

    def _populate_submodules(self, folder: Path, top: str) -> None:
        """Check out submodules once per lease. If a crash came before, no agent has worked here yet."""
        worktree = find_worktree(self._repository, folder)
        lease = worktree.read_lease() if worktree is not None else None
        if worktree is None or worktree.gitdir is None or lease is None or lease.filled:
            return
        empty = checkout.populate_submodules(self._repository, worktree.gitdir, folder, Path(top))
        write_lease(worktree.gitdir, replace(lease, filled=True))
        if empty:
            self._warn(
                f"submodules stay empty in {folder}: {', '.join(empty)} (no clone on this machine has the commit"
                " they need; run git submodule update --init in the checkout)"
            )

    def _is_clean(self, worktree: Worktree, lease: LeaseMetadata) -> bool:
        assert worktree.gitdir is not None
        if (worktree.gitdir / VIEW_FOLDER).exists():
            from plait.git.worktrees.replaced_repositories import (
                disable_replaced_repositories,  # only where there are sandboxes
            )

            if disable_replaced_repositories(worktree.gitdir):
                return False
        git = self._repository.git_at(
            worktree.gitdir, worktree.folder, settings=checkout.sparse_settings(worktree.gitdir)
        )
        return (
            git.resolve_commit("HEAD") == lease.base
            and not git.run("status", "--porcelain", "--untracked-files=all").out
        )

    def _save_and_release(self, worktree: Worktree, batch: str, task: str) -> None:
        if worktree.gitdir is None and is_real_folder(worktree.folder):
            with self._repository.lock():
                worktree = adopt_folder(self._repository, self._layout, worktree.folder, refs.task_branch(batch, task))
        has_changes = save_worktree(SavedRefs(self._repository, batch, task), worktree)
        self._pool.release(worktree, wipe=has_changes)


def _has_same_start(worktree: Worktree, lease: LeaseMetadata) -> bool:
    previous = worktree.read_lease()
    return previous is not None and worktree.valid_gitdir is not None and previous.has_same_start(lease)
