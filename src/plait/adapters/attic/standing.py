"""Worktrees of plait's as they stand on disk, and in git's own folders about them. Looking changes nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from plait.adapters.attic.model import Batch, Use, Worktree
from plait.adapters.attic.rooms import Inside, age
from plait.core.frozen import dataclass
from plait.site.folder import safe
from plait.site.git import GitError
from plait.site.outfitting import tree_size
from plait.site.workspaces import lock
from plait.site.workspaces.layout import Layout, children
from plait.site.workspaces.repository import Repository
from plait.site.workspaces.stamp import read
from plait.site.workspaces.worktree import home, is_folder, small

_TASK, _BATCH = "task-", "batch-"
_MOMENTS = 60.0  # seconds


@dataclass(frozen=True, slots=True)
class Ground:
    """What is known before anything is looked at."""

    repository: Repository
    layout: Layout
    batches: Mapping[str, Batch]
    inside: Inside


def worktrees(ground: Ground) -> list[Worktree]:
    """Those that lie where they should, and those that only git's own folders about them tell of."""
    admins = {where: admin for admin in ground.repository.admins if (where := home(admin)) is not None}
    names = {safe(batch): batch for batch in ground.batches}
    found = {folder: admins.get(folder) for folder in _folders(ground.layout)}
    found |= admins
    return [look(ground, folder, admin, names) for folder, admin in found.items()]


def look_again(ground: Ground, seen: Worktree) -> Worktree | None:
    """What there is in its place now; None: nothing."""
    folder, entry = Path(seen.path), ground.repository.admin(seen.entry)
    admin = entry if seen.entry and home(entry) == folder else None
    if admin is None and not os.path.lexists(folder):
        return None
    return look(ground, folder, admin, {safe(batch): batch for batch in ground.batches})


def _folders(layout: Layout) -> Iterator[Path]:
    return (each for each in layout.all() if each.parent != layout.trash)


def look(ground: Ground, folder: Path, admin: Path | None, names: Mapping[str, str]) -> Worktree:
    # What was thrown away is there no more, whether or not it is deleted yet.
    there = os.path.lexists(folder) and folder.parent != ground.layout.trash
    use, batch, task = _leased_to(ground, folder, admin, names)
    return Worktree(
        str(folder),
        use,
        batch,
        task,
        entry=admin.name if admin is not None else "",
        there=there,
        size=sum(tree_size(each) for each in (folder if there else None, admin) if each is not None),
        locked=_locked(admin),
        inside=ground.inside(folder) if there else (),
        making=use is Use.MAKING and there and _is_being_made(folder),
        unsaved=use is Use.TASK and _is_unsaved(ground.repository, folder, admin),
        away=not there and not folder.parent.parent.is_dir(),
        age=age(folder) if there else age(admin or folder),
    )


def _leased_to(
    ground: Ground, folder: Path, admin: Path | None, names: Mapping[str, str]
) -> tuple[Use, str, str]:
    """By its place. Where the stamp names another batch, which is not over, it is that one's."""
    stamp = read(admin) if admin is not None else None
    room = folder.parent.name
    if room == ground.layout.pool.name:
        return Use.POOL, "", ""
    if room in {ground.layout.making.name, ground.layout.trash.name}:
        return Use.MAKING, "", ""
    word = room.removeprefix(_BATCH)
    batch = names.get(word, word)
    if stamp is not None and (known := ground.batches.get(stamp.batch)) is not None and not known.over:
        batch = stamp.batch
    if folder.name == "gate":
        return Use.GATE, batch, ""
    return Use.TASK, batch, stamp.task if stamp is not None else folder.name.removeprefix(_TASK)


def _locked(admin: Path | None) -> str | None:
    if admin is None or not os.path.lexists(admin / "locked"):
        return None
    return small(admin / "locked").strip()


def _is_being_made(folder: Path) -> bool:
    """Its maker has a lock on it, from its first moments on: which must not be in anybody's way."""
    if age(folder) < _MOMENTS:
        return True
    try:
        held = lock.claim(folder)
    except OSError:
        return True
    if held is None:
        return True
    os.close(held)
    return False


def _is_unsaved(repository: Repository, folder: Path, admin: Path | None) -> bool:
    """When in doubt, yes: then it is looked at more closely before it goes, and saved if it is work."""
    if admin is None:
        return any(children(folder)) if is_folder(folder) else False
    try:
        git = repository.at(admin, folder if is_folder(folder) else admin)
        head = git.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", codes=(0, 1, 128)).text
        if head and git.text("rev-list", "-1", head, "--not", "--glob=refs/*"):
            return True
        if not is_folder(folder):
            return False
        return bool(git.run("status", "--porcelain", "-z", "--ignore-submodules=none").out)
    except (GitError, OSError):
        return True
