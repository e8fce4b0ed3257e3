"""Check the remote, without using the network, and the worktrees."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from plait.client.doctor.check import (
    CheckStatus,
    DoctorCheck,
    find_write_problem,
    format_bytes,
    format_count,
    format_names,
    measure_disk_use,
    ok,
    warning,
)
from plait.forges.forge import Forge
from plait.git.worktrees.worktree import WorkspaceLayout, list_children

_REMOTE, _WORKTREES, _LEFTOVERS = "remote", "worktrees", "leftovers"
_GC_HINT = "plait gc lists and removes what isn't needed."
_MIN_AGE_SECONDS = 600.0  # a younger worktree may be in the making


def report_missing_remote(name: str) -> DoctorCheck:
    text = f"no remote named {name}: batches stay on a local branch"
    return DoctorCheck(_REMOTE, CheckStatus.OK, text, "Add one with git remote add, or set pr.remote.")


def report_unknown_forge(name: str, why: str) -> DoctorCheck:
    """Not a problem: a bare repository on a disk is a good remote."""
    text = f"{name}: branches can be pushed, but not proposed as pull requests: {why}"
    return DoctorCheck(_REMOTE, CheckStatus.OK, text)


def report_invalid_token(name: str, why: str) -> DoctorCheck:
    return warning(_REMOTE, f"{name}: {why}")


def report_forge(name: str, host: str, forge: Forge, source: str | None, variables: Sequence[str]) -> DoctorCheck:
    """`source` is where a token was found, or None; `variables` may hold one."""
    if source is not None:
        return ok(_REMOTE, f"{name} at {host} ({forge.kind}), with a token from {source}")
    text = f"{name} at {host} ({forge.kind}): no token found, so pull requests have to be opened by hand"
    ways = [f"set {' or '.join(variables)}", *([f"log in: {forge.login_command}"] if forge.login_command else [])]
    hint = ", or ".join(ways)
    return DoctorCheck(_REMOTE, CheckStatus.OK, text, f"{hint[:1].upper()}{hint[1:]}.")


def check_worktrees(root: Path, cap: int) -> DoctorCheck:
    """`cap` is workspace.disk_cap, in bytes."""
    wrong = find_write_problem(root)
    if wrong:
        hint = "No task can have a worktree there: see workspace.location."
        return warning(_WORKTREES, f"{root}: {wrong}", hint)
    layout = WorkspaceLayout(root)
    there = layout.list_all()
    if not there:
        return ok(_WORKTREES, f"{root}: none yet")
    used, complete = measure_disk_use([str(each) for each in there])
    pooled = len(list_children(layout.pool))
    in_use = sum(len(list_children(folder)) for folder in _list_batch_folders(layout))
    told = f"{root}: {in_use} in use, {pooled} kept for the next tasks"
    disk = f"{'' if complete else 'more than '}{format_bytes(used)} of {format_bytes(cap)} (workspace.disk_cap)"
    if used > cap:
        return warning(_WORKTREES, f"{told}, {disk}: no task starts in a new one", _GC_HINT)
    return ok(_WORKTREES, f"{told}, {disk}")


def find_leftover_worktrees(root: Path, batches: Mapping[str, bool], *, engine: bool) -> Iterator[DoctorCheck]:
    """`batches` are those in the journal, with whether each has ended. A running engine removes them itself."""
    if engine:
        return
    layout = WorkspaceLayout(root)
    going = {layout.batch(batch).name for batch, over in batches.items() if not over}
    ended = {layout.batch(batch).name for batch in batches} - going
    for words, folders in (
        ("of batches that have ended", [each for each in _list_batch_folders(layout) if each.name in ended]),
        ("of no batch", [each for each in _list_batch_folders(layout) if each.name not in ended | going]),
        ("half made or half removed", [layout.making, layout.trash]),
    ):
        found = [each for folder in folders for each in list_children(folder) if _is_old(each)]
        if found:
            text = f"{format_count(len(found), 'worktree')} {words}: {format_names(_format_relative(each, root) for each in found)}"
            yield warning(_LEFTOVERS, text, _GC_HINT)


def _list_batch_folders(layout: WorkspaceLayout) -> list[Path]:
    return [each for each in list_children(layout.root) if each.name.startswith("batch-")]


def _format_relative(path: Path, root: Path) -> str:
    return str(path.relative_to(root))


def _is_old(path: Path) -> bool:
    try:
        return time.time() - os.lstat(path).st_mtime > _MIN_AGE_SECONDS
    except OSError:
        return False
