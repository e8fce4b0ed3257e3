"""Worktrees: where they lie, how much disk they take of what they may, and which of them nobody needs any more."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from plait.adapters.checkup.model import Check, count, names, ok, size, warning
from plait.adapters.checkup.store import disk_use, trouble
from plait.site.workspaces.layout import Layout, children

_TOPIC, _LEFT = "worktrees", "leftovers"
_GC = "plait gc shows what can go, and removes it."
_FRESH = 600.0  # seconds: what is younger may be on its way


def worktrees(root: Path, cap: int) -> Check:
    """`cap` is workspace.disk_cap, in bytes."""
    wrong = trouble(root)
    if wrong:
        hint = "No task can have a worktree there: see workspace.location."
        return warning(_TOPIC, f"{root}: {wrong}", hint)
    layout = Layout(root)
    there = layout.all()
    if not there:
        return ok(_TOPIC, f"{root}: none yet")
    used, complete = disk_use([str(each) for each in there])
    pooled = len(children(layout.pool))
    in_use = sum(len(children(folder)) for folder in _batches(layout))
    told = f"{root}: {in_use} in use, {pooled} kept for the next tasks"
    disk = f"{'' if complete else 'more than '}{size(used)} of {size(cap)} (workspace.disk_cap)"
    if used > cap:
        return warning(_TOPIC, f"{told}, {disk}: no task starts in a new one", _GC)
    return ok(_TOPIC, f"{told}, {disk}")


def left_worktrees(root: Path, batches: Mapping[str, bool], *, engine: bool) -> Iterator[Check]:
    """`batches` are those that the journal knows, with whether each has ended. An engine clears up by itself."""
    if engine:
        return
    layout = Layout(root)
    going = {layout.batch(batch).name for batch, over in batches.items() if not over}
    ended = {layout.batch(batch).name for batch in batches} - going
    for words, folders in (
        ("of batches that have ended", [each for each in _batches(layout) if each.name in ended]),
        ("of no batch", [each for each in _batches(layout) if each.name not in ended | going]),
        ("half made or half removed", [layout.making, layout.trash]),
    ):
        found = [each for folder in folders for each in children(folder) if _old(each)]
        if found:
            said = f"{count(len(found), 'worktree')} {words}: {names(_short(each, root) for each in found)}"
            yield warning(_LEFT, said, _GC)


def _batches(layout: Layout) -> list[Path]:
    return [each for each in children(layout.root) if each.name.startswith("batch-")]


def _short(path: Path, root: Path) -> str:
    return str(path.relative_to(root))


def _old(path: Path) -> bool:
    try:
        return time.time() - os.lstat(path).st_mtime > _FRESH
    except OSError:
        return False
