"""Garbage collection in one repository: lists what plait left there, and removes it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import assert_never

from plait.core.errors import WorldError
from plait.git.command import GitError
from plait.git.gc import inventory
from plait.git.gc.broken_refs import commit_remains, find_broken_refs, is_worktree_head, mend_head
from plait.git.gc.removal_rules import (
    BranchItem,
    BrokenRefItem,
    GcBatch,
    GcFacts,
    GcItem,
    GcOptions,
    KeptItem,
    PathItem,
    PathKind,
    RefItem,
    Removal,
    WorktreeItem,
    WorktreeUse,
    decide,
)
from plait.git.refs import may_have_ref, remove_blank_ref, task_branch
from plait.git.worktrees.metadata import is_real_folder, write_worktree_path
from plait.git.worktrees.pool import WorktreePool, adopt_folder, save_edits
from plait.git.worktrees.saved_work import SavedRefs, save_worktree
from plait.git.worktrees.worktree import (
    Repository,
    WorkspaceLayout,
    find_worktree,
    new_worktree_id,
)
from plait.system.atomic_files import make_private_folder, write_private_file
from plait.system.copy_tree import prune_tree_cache
from plait.system.disk import remove_tree
from plait.system.state_paths import StateFolder, safe_filename

_BATCH_SAVED_AS = "batch+branch"  # a batch branch is saved under this instead of a task's name; no task has it


class GarbageCollector:
    """Removes what plait left. Safe beside a running engine and other collectors.

    `read_batches` reads the journal's batches by id; it is called again before each removal.
    """

    def __init__(
        self,
        repository: Repository,
        layout: WorkspaceLayout,
        folder: StateFolder,
        read_batches: Callable[[], Mapping[str, GcBatch]],
    ) -> None:
        self._repository = repository
        self._layout = layout
        self._folder = folder
        self._read_batches = read_batches
        self._roots = {layout.root}

    def collect_facts(self) -> GcFacts:
        batches = self._read_batches()
        return GcFacts(time.time(), batches, tuple(self._list_items(batches)))

    def _list_items(self, batches: Mapping[str, GcBatch]) -> Iterator[GcItem]:
        context, root = self._inventory_context(batches), self._folder.root
        yield from inventory.list_batch_folders(self._folder, context.names)
        yield from inventory.list_trash(root / inventory.TRASH_FOLDER, root, "saving-")
        if not (self._repository.common / "HEAD").is_file():  # not a repository: there is nothing else
            return
        names = inventory.RefNames.from_batches(batches)
        yield from inventory.list_worktrees(context)
        yield from inventory.list_trash(self._layout.trash, self._layout.root, "regenerate-")
        yield from inventory.list_locks(self._repository, names)
        yield from inventory.list_branches_and_refs(self._repository, names)
        yield from inventory.list_setup_caches(self._layout)
        yield from inventory.list_lost_repositories(self._layout.root.parent)

    def clean(self, items: Sequence[Removal], options: GcOptions) -> Iterator[Removal | KeptItem]:
        """Remove the items; yield each one that was removed, or the reason why it was kept after all."""
        heads = [item for item in items if isinstance(item.item, BrokenRefItem) and is_worktree_head(item.item.name)]
        trees = [item for item in items if isinstance(item.item, WorktreeItem)]
        for item in (*heads, *trees):  # what a worktree with a damaged HEAD has can't be saved
            yield self._try_remove(item, options)
        if trees:
            self._empty_trash()
        for item in items:
            if item not in heads and not isinstance(item.item, WorktreeItem):
                yield self._try_remove(item, options)
        self._remove_empty_folders()

    def _try_remove(self, item: Removal, options: GcOptions) -> Removal | KeptItem:
        try:
            why = self._remove(item, options)
        except WorldError as error:
            why = error.message
        except OSError as error:
            why = f"{error.strerror or error}"
        return KeptItem(item.item, why) if why else item

    def _remove(self, item: Removal, options: GcOptions) -> str:
        """Remove an item. Return why it was kept; empty if it was removed."""
        match item.item:
            case WorktreeItem(use=WorktreeUse.MAKING):
                return ""  # emptied with the trash
            case WorktreeItem() as worktree:
                return self._remove_worktree(worktree, options)
            case BranchItem() as branch:
                return self._remove_branch(branch, options)
            case BrokenRefItem() as broken:
                return self._remove_broken_ref(broken)
            case RefItem() as ref:
                return _why_keep(ref, options, self._read_batches()) or self._delete_ref(ref.name, ref.tip)
            case PathItem(kind=PathKind.LOCK) as lock:
                return self._remove_lock(lock)
            case PathItem(kind=PathKind.TRANSCRIPTS | PathKind.BATCH_FOLDER) as files:
                return self._remove_batch_files(files, options)
            case PathItem(kind=PathKind.SETUPS) as cache:
                prune_tree_cache(Path(cache.path), 0)
            case PathItem() as folder:
                remove_tree(Path(folder.path))
            case unknown:
                assert_never(unknown)
        return ""

    def _remove_worktree(self, item: WorktreeItem, options: GcOptions) -> str:
        """Remove a worktree after checking it once more under the lock that workspaces are made under: it may have been
        leased meanwhile. Return why it was kept; empty if it was removed.
        """
        with self._repository.lock():
            batches = self._read_batches()
            current = inventory.inspect_again(self._inventory_context(batches), item)
            if current is None:
                return ""
            why = _why_keep(current, options, batches)
            if not why:
                self._trash_worktree(current)
        return why

    def _trash_worktree(self, item: WorktreeItem) -> None:
        worktree = find_worktree(self._repository, Path(item.path))
        if worktree is None:
            return
        if item.use is WorktreeUse.TASK:
            if worktree.gitdir is None and is_real_folder(worktree.folder):
                if is_real_folder(worktree.folder / ".git"):
                    raise WorldError(
                        f"{worktree.folder} contains a repository of its own: check it and remove it by hand"
                    )
                branch = task_branch(item.batch, item.task)
                worktree = adopt_folder(self._repository, self._layout, worktree.folder, branch)
            save_worktree(SavedRefs(self._repository, item.batch, item.task), worktree)
        elif item.use is WorktreeUse.POOL:
            save_edits(self._repository, worktree)
        trash_path = self._trash_folder(item) / (
            worktree.gitdir.name if worktree.gitdir is not None else new_worktree_id()
        )
        if os.path.lexists(worktree.folder):
            worktree.move(trash_path)
        elif worktree.gitdir is not None:
            write_worktree_path(worktree.gitdir, trash_path)

    def _trash_folder(self, item: WorktreeItem) -> Path:
        """Return the trash folder beside the worktree, on the same disk: the settings may have changed since the
        worktree was made.
        """
        root = Path(item.path).parent.parent
        self._roots.add(root)
        return WorkspaceLayout(root).trash

    def _empty_trash(self) -> None:
        """Delete the files first, then the gitdirs of folders that are gone."""
        for root in self._roots:
            pool = WorktreePool(self._repository, WorkspaceLayout(root), keep=0)
            pool.empty_trash()
            pool.clean_up_abandoned()
            pool.empty_trash()

    def _remove_empty_folders(self) -> None:
        for root in self._roots:
            for folder in WorkspaceLayout(root).list_batches():
                with suppress(OSError):
                    folder.rmdir()

    def _remove_branch(self, item: BranchItem, options: GcOptions) -> str:
        ref = f"{inventory.BRANCH_PREFIX}{item.name}"
        with self._repository.lock():
            if why := _why_keep(item, options, self._read_batches()):
                return why
            if checkout := inventory.find_checkouts(self._repository.git).get(ref):
                return f"checked out in {checkout}"
            if not (options.unmerged and item.batch in options.forget):
                saved_refs = SavedRefs(self._repository, item.batch, item.task or _BATCH_SAVED_AS)
                saved_refs.keep_unreachable(item.tip, moving_ref=ref)
            return self._delete_ref(ref, item.tip)

    def _remove_broken_ref(self, item: BrokenRefItem) -> str:
        """Remove a broken ref after saving what is left of it, unless it was mended meanwhile from a workspace's files.
        Return why it was kept; empty if it was removed.
        """
        git = self._repository.git
        broken = next((ref for ref in find_broken_refs(self._repository) if ref.name == item.name), None)
        if broken is None:
            return "it is whole again"
        if is_worktree_head(item.name):
            mend_head(git, broken)
            return ""
        if not item.tip:
            remove_blank_ref(self._repository.common, item.name)
            return (
                "" if not may_have_ref(self._repository.common, item.name) else "it holds something else than a commit"
            )
        remains = commit_remains(git, item.tip)
        if remains is not None:
            SavedRefs(self._repository, item.batch, item.task or _BATCH_SAVED_AS).keep(remains)
        return self._delete_ref(item.name, item.tip)

    def _delete_ref(self, ref: str, tip: str) -> str:
        """Delete a ref unless it has moved. Return why it was kept; empty if it was deleted."""
        git = self._repository.git
        try:
            git.run("update-ref", "-d", ref, tip)
        except GitError as error:
            if not git.read_ref(ref):
                return ""
            return "it has moved" if "but expected" in error.stderr else error.message
        return ""

    def _remove_batch_files(self, item: PathItem, options: GcOptions) -> str:
        """Remove a batch's files, moving them away first, so that a batch that is resumed meanwhile finds nothing
        incomplete.
        """
        if why := _why_keep(item, options, self._read_batches()):
            return why
        trash_path = self._folder.root / inventory.TRASH_FOLDER / new_worktree_id()
        make_private_folder(trash_path.parent)
        if item.kind is PathKind.BATCH_FOLDER and item.batch in options.forget:
            write_private_file(self._folder.forgotten_marker(item.batch), "")
        with suppress(FileNotFoundError):
            Path(item.path).rename(trash_path)
            remove_tree(trash_path)
        return ""

    def _remove_lock(self, item: PathItem) -> str:
        path = Path(item.path)
        if os.path.lexists(path) and inventory.seconds_since_change(path) < item.age:
            return "it was locked again"
        path.unlink(missing_ok=True)
        return ""

    def _inventory_context(self, batches: Mapping[str, GcBatch]) -> inventory.InventoryContext:
        names = {safe_filename(batch): batch for batch in batches}
        finder = inventory.make_process_finder()
        return inventory.InventoryContext(self._repository, self._layout, batches, names, finder)


def _why_keep(item: GcItem, options: GcOptions, batches: Mapping[str, GcBatch]) -> str:
    """Why the item must stay, according to the journal as it is now; empty if it can be removed."""
    verdict = decide(GcFacts(time.time(), batches, (item,)), options, item)
    return verdict.why if isinstance(verdict, KeptItem) else ""
