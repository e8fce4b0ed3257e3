"""Lists the folders that plait left on disk: worktrees, batch folders, locks, trash, setup caches. Changes nothing."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.git.command import GitError
from plait.git.gc.items import (
    BatchFolderItem,
    GcBatch,
    LockItem,
    LostRepositoryItem,
    SetupCacheItem,
    TranscriptsItem,
    TrashItem,
    WorktreeItem,
    WorktreeUse,
)
from plait.git.gc.ref_inventory import BRANCH_PREFIX, RefNames, batch_component
from plait.git.worktrees.metadata import read_lease
from plait.git.worktrees.worktree import (
    Repository,
    WorkspaceLayout,
    is_real_folder,
    list_children,
    read_gitdir_link,
    read_small_file,
    read_worktree_path,
)
from plait.system import locks
from plait.system.disk import tree_size
from plait.system.state_paths import StateFolder, safe_filename


def seconds_since_change(path: Path) -> float:
    """0 for a path that does not exist."""
    try:
        return max(0.0, time.time() - path.lstat().st_mtime)
    except OSError:
        return 0.0


ProcessFinder = Callable[[Path], tuple[int, ...]]


def make_process_finder() -> ProcessFinder:
    """Finds the processes whose current folder is inside a given one, as far as this user may see."""
    found = [(pid, folder) for pid, folder in _list_process_folders() if pid != os.getpid()]

    def inside(folder: Path) -> tuple[int, ...]:
        real = os.path.realpath(folder)
        return tuple(pid for pid, there in found if there == real or there.startswith(f"{real}{os.sep}"))

    return inside


def _list_process_folders() -> Iterator[tuple[int, str]]:
    """Every process id with its current folder."""
    if sys.platform == "linux":
        for entry in os.scandir("/proc"):
            if entry.name.isdecimal():
                with suppress(OSError):
                    yield int(entry.name), os.readlink(f"/proc/{entry.name}/cwd")  # noqa: PTH115 - a string is wanted
    else:
        import psutil  # costs a moment, and only where there is no /proc

        for process in psutil.process_iter():
            with suppress(psutil.Error, OSError):
                yield process.pid, process.cwd()


_TASK_PREFIX, _BATCH_PREFIX = "task-", "batch-"
_JUST_MADE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class InventoryContext:
    repository: Repository
    layout: WorkspaceLayout
    batches: Mapping[str, GcBatch]
    find_processes: ProcessFinder


def list_worktrees(context: InventoryContext) -> list[WorktreeItem]:
    """The worktree folders, and those that only their admins name."""
    admins = {
        where: admin for admin in context.repository.admin_folders if (where := read_worktree_path(admin)) is not None
    }
    names, trash = {safe_filename(batch): batch for batch in context.batches}, context.layout.trash
    found = {folder: admins.get(folder) for folder in context.layout.list_all() if folder.parent != trash}
    found |= admins
    return [inspect_worktree(context, folder, admin, names) for folder, admin in found.items()]


def inspect_again(context: InventoryContext, seen: WorktreeItem) -> WorktreeItem | None:
    """The same item as it is now; None if it is gone."""
    folder, entry = Path(seen.path), context.repository.admin_folder(seen.entry)
    admin = entry if seen.entry and read_worktree_path(entry) == folder else None
    if admin is None and not os.path.lexists(folder):
        return None
    return inspect_worktree(context, folder, admin, {safe_filename(batch): batch for batch in context.batches})


def inspect_worktree(
    context: InventoryContext, folder: Path, admin: Path | None, names: Mapping[str, str]
) -> WorktreeItem:
    # What is in the trash counts as gone, deleted or not.
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
    """Use, batch and task, by its place; the lease decides if it names another batch that is not over."""
    lease = read_lease(admin) if admin is not None else None
    parent = folder.parent.name
    if parent == context.layout.pool.name:
        return WorktreeUse.POOL, "", ""
    if parent in {context.layout.making.name, context.layout.trash.name}:
        return WorktreeUse.MAKING, "", ""
    name = parent.removeprefix(_BATCH_PREFIX)
    batch = names.get(name, name)
    if lease is not None and (known := context.batches.get(lease.batch)) is not None and not known.is_over:
        batch = lease.batch
    if folder.name == "gate":
        return WorktreeUse.GATE, batch, ""
    return (
        WorktreeUse.TASK,
        batch,
        lease.task if lease is not None else folder.name.removeprefix(_TASK_PREFIX),
    )


def _read_lock_reason(admin: Path | None) -> str | None:
    if admin is None or not os.path.lexists(admin / "locked"):
        return None
    return read_small_file(admin / "locked").strip()


def _is_being_made(folder: Path) -> bool:
    """Its maker holds a lock on it. Not tested in the first minute, so as not to take the lock from the maker."""
    if seconds_since_change(folder) < _JUST_MADE_SECONDS:
        return True
    try:
        held = locks.try_lock_folder(folder)
    except OSError:
        return True
    if held is None:
        return True
    os.close(held)
    return False


def _is_unsaved(repository: Repository, folder: Path, admin: Path | None) -> bool:
    """True when in doubt: saving before removal finds out whether there is work."""
    if admin is None:
        return any(list_children(folder)) if is_real_folder(folder) else False
    try:
        git = repository.git_at(admin, folder if is_real_folder(folder) else admin)
        head = git.resolve_commit("HEAD")
        if head and git.text("rev-list", "-1", head, "--not", "--glob=refs/*"):
            return True
        if not is_real_folder(folder):
            return False
        return bool(git.run("status", "--porcelain", "-z", "--ignore-submodules=none").out)
    except (GitError, OSError):
        return True


TRASH_FOLDER = "trash"
_TASKS_FOLDER = "tasks"
_ABANDONED_SECONDS = 3600.0  # temporary folders are in use for moments only


def list_batch_folders(folder: StateFolder, batches: Iterable[str]) -> Iterator[TranscriptsItem | BatchFolderItem]:
    names = {safe_filename(batch): batch for batch in batches}
    for each in list_children(folder.batches):
        batch, printed = names.get(each.name, each.name), each / _TASKS_FOLDER
        begun, taken = printed.is_dir(), tree_size(printed)
        if begun:
            yield TranscriptsItem(batch, str(printed), taken)
        yield BatchFolderItem(batch, str(each), max(0, tree_size(each) - taken), begun, seconds_since_change(each))


def list_locks(repository: Repository, names: RefNames) -> Iterator[LockItem]:
    common = repository.common
    for path in chain((common / "refs/heads/plait").rglob("*.lock"), (common / "refs/plait").rglob("*.lock")):
        name = path.relative_to(common).as_posix().removesuffix(".lock")
        batch, _ = names.branches.get(name.removeprefix(BRANCH_PREFIX), ("", ""))
        yield LockItem(str(path), seconds_since_change(path), batch or names.batch(batch_component(name)))
    for admin in repository.admin_folders:
        lease = read_lease(admin)
        for path in admin.glob("*.lock"):
            yield LockItem(str(path), seconds_since_change(path), lease.batch if lease is not None else "")


def list_trash(folder: StateFolder) -> Iterator[TrashItem]:
    """The state folder's trash, and temporary folders whose maker was killed."""
    return _make_trash_items([*list_children(folder.root / TRASH_FOLDER), *_find_abandoned(folder.root, "saving-")])


def list_workspace_trash(layout: WorkspaceLayout) -> Iterator[TrashItem]:
    return _make_trash_items([*list_children(layout.trash), *_find_abandoned(layout.root, "regenerate-")])


def _make_trash_items(found: Iterable[Path]) -> Iterator[TrashItem]:
    return (TrashItem(str(each), tree_size(each)) for each in found)


def _find_abandoned(folder: Path, prefix: str) -> list[Path]:
    return [
        each
        for each in list_children(folder)
        if each.name.startswith(prefix) and seconds_since_change(each) > _ABANDONED_SECONDS
    ]


def list_setup_caches(layout: WorkspaceLayout) -> Iterator[SetupCacheItem]:
    folder = layout.setups
    kept = [each for each in list_children(folder) if each.is_dir()]
    if kept:
        yield SetupCacheItem(str(folder), tree_size(folder), min(seconds_since_change(each) for each in kept))


def list_lost_repositories(location: Path) -> Iterator[LostRepositoryItem]:
    """The folders in which every worktree names a repository that is gone."""
    for root in filter(is_real_folder, list_children(location)):
        homes = {_find_repository(each) for each in WorkspaceLayout(root).list_all() if is_real_folder(each)} - {None}
        named = [home for home in homes if home is not None]
        if named and not any(os.path.lexists(home) for home in named):
            yield LostRepositoryItem(str(root), str(min(named)), tree_size(root))


def _find_repository(folder: Path) -> Path | None:
    """<common>/worktrees/<id>, as the folder has it."""
    admin = read_gitdir_link(folder)
    return admin.parent.parent if admin is not None and admin.parent.name == "worktrees" else None
