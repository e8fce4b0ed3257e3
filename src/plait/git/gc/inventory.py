"""Worktrees of plait's as they stand on disk, and in git's own folders about them. Looking changes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.git.command import GitError
from plait.git.gc.inventory__rooms import ProcessFinder, seconds_since_change
from plait.git.gc.items import GcBatch, WorktreeItem, WorktreeUse
from plait.git.worktrees.metadata__stamp import read_lease
from plait.git.worktrees.worktree import is_real_folder, read_small_file, read_worktree_path
from plait.git.worktrees.worktree__layout import WorkspaceLayout, list_children
from plait.git.worktrees.worktree__repository import Repository
from plait.system import locks__lock
from plait.system.disk import tree_size
from plait.system.state_paths import safe_filename

_TASK_PREFIX, _BATCH_PREFIX = "task-", "batch-"
_JUST_MADE_SECONDS = 60.0  # seconds


@dataclass(frozen=True, slots=True)
class InventoryContext:
    """What is known before anything is looked at."""

    repository: Repository
    layout: WorkspaceLayout
    batches: Mapping[str, GcBatch]
    find_processes: ProcessFinder


def list_worktrees(context: InventoryContext) -> list[WorktreeItem]:
    """Those that lie where they should, and those that only git's own folders about them tell of."""
    admins = {
        where: admin
        for admin in context.repository.admin_folders
        if (where := read_worktree_path(admin)) is not None
    }
    names = {safe_filename(batch): batch for batch in context.batches}
    found = {folder: admins.get(folder) for folder in _list_worktree_folders(context.layout)}
    found |= admins
    return [inspect_worktree(context, folder, admin, names) for folder, admin in found.items()]


def inspect_again(context: InventoryContext, seen: WorktreeItem) -> WorktreeItem | None:
    """What there is in its place now; None: nothing."""
    folder, entry = Path(seen.path), context.repository.admin_folder(seen.entry)
    admin = entry if seen.entry and read_worktree_path(entry) == folder else None
    if admin is None and not os.path.lexists(folder):
        return None
    return inspect_worktree(
        context, folder, admin, {safe_filename(batch): batch for batch in context.batches}
    )


def _list_worktree_folders(layout: WorkspaceLayout) -> Iterator[Path]:
    return (each for each in layout.list_all() if each.parent != layout.trash)


def inspect_worktree(
    context: InventoryContext, folder: Path, admin: Path | None, names: Mapping[str, str]
) -> WorktreeItem:
    # What was thrown away is there no more, whether or not it is deleted yet.
    there = os.path.lexists(folder) and folder.parent != context.layout.trash
    use, batch, task = _find_lease(context, folder, admin, names)
    return WorktreeItem(
        str(folder),
        use,
        batch,
        task,
        entry=admin.name if admin is not None else "",
        there=there,
        size=sum(tree_size(each) for each in (folder if there else None, admin) if each is not None),
        locked=_read_lock_reason(admin),
        inside=context.find_processes(folder) if there else (),
        making=use is WorktreeUse.MAKING and there and _is_being_made(folder),
        unsaved=use is WorktreeUse.TASK and _is_unsaved(context.repository, folder, admin),
        away=not there and not folder.parent.parent.is_dir(),
        age=seconds_since_change(folder) if there else seconds_since_change(admin or folder),
    )


def _find_lease(
    context: InventoryContext, folder: Path, admin: Path | None, names: Mapping[str, str]
) -> tuple[WorktreeUse, str, str]:
    """By its place. Where the stamp names another batch, which is not over, it is that one's."""
    stamp = read_lease(admin) if admin is not None else None
    room = folder.parent.name
    if room == context.layout.pool.name:
        return WorktreeUse.POOL, "", ""
    if room in {context.layout.making.name, context.layout.trash.name}:
        return WorktreeUse.MAKING, "", ""
    word = room.removeprefix(_BATCH_PREFIX)
    batch = names.get(word, word)
    if stamp is not None and (known := context.batches.get(stamp.batch)) is not None and not known.is_over:
        batch = stamp.batch
    if folder.name == "gate":
        return WorktreeUse.GATE, batch, ""
    return (
        WorktreeUse.TASK,
        batch,
        stamp.task if stamp is not None else folder.name.removeprefix(_TASK_PREFIX),
    )


def _read_lock_reason(admin: Path | None) -> str | None:
    if admin is None or not os.path.lexists(admin / "locked"):
        return None
    return read_small_file(admin / "locked").strip()


def _is_being_made(folder: Path) -> bool:
    """Its maker has a lock on it, from its first moments on: which must not be in anybody's way."""
    if seconds_since_change(folder) < _JUST_MADE_SECONDS:
        return True
    try:
        held = locks__lock.try_lock_folder(folder)
    except OSError:
        return True
    if held is None:
        return True
    os.close(held)
    return False


def _is_unsaved(repository: Repository, folder: Path, admin: Path | None) -> bool:
    """When in doubt, yes: then it is looked at more closely before it goes, and saved if it is work."""
    if admin is None:
        return any(list_children(folder)) if is_real_folder(folder) else False
    try:
        git = repository.git_at(admin, folder if is_real_folder(folder) else admin)
        head = git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", codes=(0, 1, 128)).text
        if head and git.text("rev-list", "-1", head, "--not", "--glob=refs/*"):
            return True
        if not is_real_folder(folder):
            return False
        return bool(git.run("status", "--porcelain", "-z", "--ignore-submodules=none").out)
    except (GitError, OSError):
        return True
