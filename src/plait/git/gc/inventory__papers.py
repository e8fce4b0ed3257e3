"""What lies about beside worktrees and refs: by batch in the state folder, and what nobody came back for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from plait.git.gc.inventory__rooms import seconds_since_change
from plait.git.gc.items import BatchFolderItem, LockItem, SetupCacheItem, TranscriptsItem, TrashItem
from plait.git.gc.ref_inventory import BRANCH_PREFIX, RefNames
from plait.git.worktrees.metadata__stamp import read_lease
from plait.git.worktrees.worktree__layout import WorkspaceLayout, list_children
from plait.git.worktrees.worktree__repository import Repository
from plait.system.disk import tree_size
from plait.system.state_paths import StateFolder, safe_filename

SETUPS_FOLDER = "setups"
TRASH_FOLDER = "trash"
_TASKS_FOLDER = "tasks"
_ABANDONED_SECONDS = 3600.0  # seconds: nobody works on one thing for a moment for longer


def list_batch_folders(
    folder: StateFolder, batches: Iterable[str]
) -> Iterator[TranscriptsItem | BatchFolderItem]:
    names = {safe_filename(batch): batch for batch in batches}
    for each in list_children(folder.batches):
        batch, printed = names.get(each.name, each.name), each / _TASKS_FOLDER
        begun, taken = printed.is_dir(), tree_size(printed)
        if begun:
            yield TranscriptsItem(batch, str(printed), taken)
        yield BatchFolderItem(
            batch, str(each), max(0, tree_size(each) - taken), begun, seconds_since_change(each)
        )


def list_locks(repository: Repository, names: RefNames) -> Iterator[LockItem]:
    common = repository.common
    for path in chain((common / "refs/heads/plait").rglob("*.lock"), (common / "refs/plait").rglob("*.lock")):
        name = path.relative_to(common).as_posix().removesuffix(".lock")
        batch, _ = names.branches.get(name.removeprefix(BRANCH_PREFIX), ("", ""))
        yield LockItem(str(path), seconds_since_change(path), batch or names.batch(_batch_component(name)))
    for admin in repository.admin_folders:
        stamp = read_lease(admin)
        for path in admin.glob("*.lock"):
            yield LockItem(str(path), seconds_since_change(path), stamp.batch if stamp is not None else "")


def _batch_component(name: str) -> str:
    """refs/plait/attempts/<batch>/…"""
    parts = Path(name).parts
    return parts[3] if name.startswith("refs/plait/") and len(parts) > 3 else ""


def list_trash(folder: StateFolder) -> Iterator[TrashItem]:
    """What was thrown away; and rooms for a moment's work, which stay behind only if their maker was killed."""
    return _make_trash_items(
        [*list_children(folder.root / TRASH_FOLDER), *_find_abandoned(folder.root, "saving-")]
    )


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
    folder = layout.root / SETUPS_FOLDER
    kept = [each for each in list_children(folder) if each.is_dir()]
    if kept:
        yield SetupCacheItem(str(folder), tree_size(folder), min(seconds_since_change(each) for each in kept))
