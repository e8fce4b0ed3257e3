"""Garbage collection in one repository: lists what plait left there, and removes it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import assert_never

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.git.gc import inventory, ref_inventory
from plait.git.gc.inventory import (
    InventoryContext,
    inspect_again,
    list_lost_repositories,
    list_worktrees,
    make_process_finder,
    seconds_since_change,
)
from plait.git.gc.items import (
    BatchFolderItem,
    BranchItem,
    GcBatch,
    GcFacts,
    GcItem,
    GcOptions,
    KeptItem,
    LockItem,
    LostRepositoryItem,
    RefItem,
    Removal,
    SetupCacheItem,
    TranscriptsItem,
    TrashItem,
    WorktreeItem,
    WorktreeUse,
)
from plait.git.gc.removal_rules import decide
from plait.git.refs import task_branch
from plait.git.worktrees.pool import WorktreePool, adopt_folder
from plait.git.worktrees.saved_work import SavedRefs, save_worktree
from plait.git.worktrees.worktree import (
    Repository,
    WorkspaceLayout,
    Worktree,
    find_worktree,
    is_real_folder,
    new_worktree_id,
    write_worktree_path,
)
from plait.system.atomic_files import make_private_folder
from plait.system.disk import remove_tree
from plait.system.state_paths import StateFolder, mark_batch_forgotten
from plait.system.tree_cache import prune_tree_cache

BATCH_BRANCH = "batch+branch"  # in place of a task's name; no task has this one


@dataclass(frozen=True, slots=True)
class JournalFacts:
    """What the journal knows: batches, the ids of their tasks, and their branches."""

    batches: Mapping[str, GcBatch]
    tasks: Mapping[str, Sequence[str]]
    branches: Mapping[str, str]


class GarbageCollector:
    """`known` is called again before each removal. Safe beside a running engine and other collectors."""

    def __init__(
        self,
        repository: Repository,
        layout: WorkspaceLayout,
        folder: StateFolder,
        known: Callable[[], JournalFacts],
    ) -> None:
        self._repository = repository
        self._layout = layout
        self._folder = folder
        self._known = known
        self._roots = {layout.root}

    def collect_facts(self) -> GcFacts:
        known = self._known()
        return GcFacts(time.time(), known.batches, tuple(self._list_items(known)))

    def _list_items(self, known: JournalFacts) -> Iterator[GcItem]:
        yield from inventory.list_batch_folders(self._folder, known.tasks)
        yield from inventory.list_trash(self._folder)
        if not (self._repository.common / "HEAD").is_file():  # not a repository: there is nothing else
            return
        names, git = ref_inventory.RefNames.from_batches(known.tasks, known.branches), self._repository.git
        yield from list_worktrees(self._inventory_context(known))
        yield from inventory.list_workspace_trash(self._layout)
        yield from inventory.list_locks(self._repository, names)
        yield from ref_inventory.list_branches(git, names, ref_inventory.find_checkouts(git))
        yield from ref_inventory.list_plait_refs(git, names)
        yield from inventory.list_setup_caches(self._layout)
        yield from list_lost_repositories(self._layout.root.parent)

    def clean(self, items: Sequence[Removal], options: GcOptions) -> Iterator[Removal | KeptItem]:
        """Remove the items; yields each one that was removed, or why it was kept after all."""
        trees = [item for item in items if isinstance(item.item, WorktreeItem)]
        for item in trees:
            yield self._try_remove(item, options)
        if trees:
            self._empty_trash()
        for item in items:
            if not isinstance(item.item, WorktreeItem):
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
        """Why it was kept; empty if it was removed."""
        match item.item:
            case WorktreeItem(use=WorktreeUse.MAKING):
                return ""  # emptied with the trash
            case WorktreeItem() as worktree:
                return self._remove_worktree(worktree, options)
            case BranchItem() as branch:
                return self._remove_branch(branch, options)
            case RefItem() as ref:
                return self._why_keep(ref, options) or ref_inventory.delete_ref(self._repository.git, ref.name, ref.tip)
            case LockItem() as lock:
                return self._remove_lock(lock)
            case SetupCacheItem() as cache:
                prune_tree_cache(Path(cache.path), 0)
            case (TrashItem() | LostRepositoryItem()) as folder:
                remove_tree(Path(folder.path))
            case (TranscriptsItem() | BatchFolderItem()) as files:
                return self._remove_batch_files(files, options)
            case unknown:
                assert_never(unknown)
        return ""

    def _remove_worktree(self, seen: WorktreeItem, options: GcOptions) -> str:
        """Check again under the lock that workspaces are made under: it may have been leased meanwhile."""
        with self._repository.lock():
            known = self._known()
            now = inspect_again(self._inventory_context(known), seen)
            if now is None:
                return ""
            if isinstance(kept := decide(GcFacts(time.time(), known.batches, (now,)), options, now), KeptItem):
                return kept.why
            self._trash_worktree(now)
        return ""

    def _trash_worktree(self, item: WorktreeItem) -> None:
        there = find_worktree(self._repository, Path(item.path))
        if there is None:
            return
        if item.use is WorktreeUse.TASK:
            if there.admin is None and is_real_folder(there.folder):
                there = self._adopt(there.folder, item)
            save_worktree(SavedRefs(self._repository, item.batch, item.task), there)
        away = self._trash_folder(item) / (there.admin.name if there.admin is not None else new_worktree_id())
        if os.path.lexists(there.folder):
            there.move(away)
        elif there.admin is not None:
            write_worktree_path(there.admin, away)

    def _adopt(self, folder: Path, item: WorktreeItem) -> Worktree:
        """Make a folder whose worktree git has forgotten a worktree again, so that its changes can be saved."""
        if is_real_folder(folder / ".git"):
            raise WorldError(f"{folder} contains a repository of its own: check it and remove it by hand")
        branch = f"refs/heads/{task_branch(item.batch, item.task)}"
        commit = self._repository.git.resolve_commit(branch) or self._repository.git.resolve_commit("HEAD")
        if commit is None:
            raise WorldError(f"there is no commit to compare {folder} with")
        return adopt_folder(self._repository, self._layout, folder, commit)

    def _trash_folder(self, item: WorktreeItem) -> Path:
        """The trash beside it, on the same disk: the settings may have changed since it was made."""
        root = Path(item.path).parent.parent
        self._roots.add(root)
        return WorkspaceLayout(root).trash

    def _empty_trash(self) -> None:
        """Delete the files first, then the admins whose folders are gone."""
        for root in self._roots:
            pool = WorktreePool(self._repository, WorkspaceLayout(root), keep=0)
            pool.empty_trash()
            pool.clean_up_abandoned()
            pool.empty_trash()

    def _remove_empty_folders(self) -> None:
        for root in self._roots:
            for folder in root.glob("batch-*"):
                with suppress(OSError):
                    folder.rmdir()

    def _why_keep(self, item: GcItem, options: GcOptions) -> str:
        """Why the item must stay, according to the journal as it is now; empty if it may go."""
        verdict = decide(GcFacts(time.time(), self._known().batches, (item,)), options, item)
        return verdict.why if isinstance(verdict, KeptItem) else ""

    def _remove_branch(self, item: BranchItem, options: GcOptions) -> str:
        git, ref = self._repository.git, f"{ref_inventory.BRANCH_PREFIX}{item.name}"
        with self._repository.lock():
            if why := self._why_keep(item, options):
                return why
            if where := ref_inventory.find_checkouts(git).get(ref):
                return f"it is checked out in {where}"
            if not (options.unmerged and item.batch in options.forget):
                SavedRefs(self._repository, item.batch, item.task or BATCH_BRANCH).keep_unreachable(
                    item.tip, moving_ref=ref
                )
            return ref_inventory.delete_ref(git, ref, item.tip)

    def _remove_batch_files(self, item: TranscriptsItem | BatchFolderItem, options: GcOptions) -> str:
        """Move the files away first, so that a batch that is resumed meanwhile finds nothing half removed."""
        if why := self._why_keep(item, options):
            return why
        away = self._folder.root / inventory.TRASH_FOLDER / new_worktree_id()
        make_private_folder(away.parent)
        if isinstance(item, BatchFolderItem) and item.batch in options.forget:
            mark_batch_forgotten(self._folder, item.batch)
        with suppress(FileNotFoundError):
            Path(item.path).rename(away)
            remove_tree(away)
        return ""

    def _remove_lock(self, item: LockItem) -> str:
        path = Path(item.path)
        if os.path.lexists(path) and seconds_since_change(path) < item.age:
            return "it was locked again"
        path.unlink(missing_ok=True)
        return ""

    def _inventory_context(self, known: JournalFacts) -> InventoryContext:
        return InventoryContext(self._repository, self._layout, known.batches, make_process_finder())
