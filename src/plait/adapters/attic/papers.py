"""What lies about beside worktrees and refs: by batch in the state folder, and what nobody came back for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from plait.adapters.attic.heads import HEADS, Names
from plait.adapters.attic.model import Folder, Lock, Setups, Transcripts, Trash
from plait.adapters.attic.rooms import age
from plait.site.folder import StateFolder, safe
from plait.site.outfitting import tree_size
from plait.site.workspaces.layout import Layout, children
from plait.site.workspaces.repository import Repository
from plait.site.workspaces.stamp import read

SETUPS = "setups"
TRASH = "trash"
_TASKS = "tasks"
_LONG = 3600.0  # seconds: nobody works on one thing for a moment for longer


def papers(folder: StateFolder, batches: Iterable[str]) -> Iterator[Transcripts | Folder]:
    names = {safe(batch): batch for batch in batches}
    for each in children(folder.batches):
        batch, printed = names.get(each.name, each.name), each / _TASKS
        begun, taken = printed.is_dir(), tree_size(printed)
        if begun:
            yield Transcripts(batch, str(printed), taken)
        yield Folder(batch, str(each), max(0, tree_size(each) - taken), begun, age(each))


def locks(repository: Repository, names: Names) -> Iterator[Lock]:
    common = repository.common
    for path in chain((common / "refs/heads/plait").rglob("*.lock"), (common / "refs/plait").rglob("*.lock")):
        name = path.relative_to(common).as_posix().removesuffix(".lock")
        batch, _ = names.branches.get(name.removeprefix(HEADS), ("", ""))
        yield Lock(str(path), age(path), batch or names.batch(_word(name)))
    for admin in repository.admins:
        stamp = read(admin)
        for path in admin.glob("*.lock"):
            yield Lock(str(path), age(path), stamp.batch if stamp is not None else "")


def _word(name: str) -> str:
    """refs/plait/attempts/<batch>/…"""
    parts = Path(name).parts
    return parts[3] if name.startswith("refs/plait/") and len(parts) > 3 else ""


def trash(folder: StateFolder) -> Iterator[Trash]:
    """What was thrown away; and rooms for a moment's work, which stay behind only if their maker was killed."""
    return _thrown([*children(folder.root / TRASH), *_left(folder.root, "saving-")])


def left_in(layout: Layout) -> Iterator[Trash]:
    return _thrown([*children(layout.trash), *_left(layout.root, "regenerate-")])


def _thrown(found: Iterable[Path]) -> Iterator[Trash]:
    return (Trash(str(each), tree_size(each)) for each in found)


def _left(folder: Path, prefix: str) -> list[Path]:
    return [each for each in children(folder) if each.name.startswith(prefix) and age(each) > _LONG]


def setups(layout: Layout) -> Iterator[Setups]:
    folder = layout.root / SETUPS
    kept = [each for each in children(folder) if each.is_dir()]
    if kept:
        yield Setups(str(folder), tree_size(folder), min(age(each) for each in kept))
