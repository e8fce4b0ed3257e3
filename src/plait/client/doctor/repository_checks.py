"""Check the remote, without using the network, and the worktrees."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
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
from plait.config.config import Config
from plait.forges.forge import ForgeError, find_forge
from plait.forges.remote import find_remote, resolve_address
from plait.forges.tokens import PLAIT_VARIABLE, find_token
from plait.git.command import Git
from plait.git.worktrees.worktree import WorkspaceLayout, list_children

_REMOTE, _WORKTREES, _LEFTOVERS = "remote", "worktrees", "leftovers"
_GC_HINT = "plait gc lists and removes what isn't needed."
_MIN_AGE_SECONDS = 600.0  # a younger worktree may be in the making


def check_remote(git: Git, config: Config) -> DoctorCheck:
    """Without using the network. No remote, or one without a forge, is not a problem: batches stay on a local branch."""
    name = config.pr.remote
    try:
        url = find_remote(git, name).fetch
    except ForgeError:
        text = f"no remote named {name}: batches stay on a local branch"
        return DoctorCheck(_REMOTE, CheckStatus.OK, text, "Add one with git remote add, or set pr.remote.")
    try:
        where = resolve_address(url, os.environ)
        forge = find_forge(where, config.pr.forge)
    except ForgeError as error:
        return ok(_REMOTE, f"{name}: branches can be pushed, but not proposed as pull requests: {error.message}")
    try:
        token = find_token(forge, where, git, os.environ)
    except ForgeError as error:
        return warning(_REMOTE, f"{name}: {error.message}")
    if token is not None:
        return ok(_REMOTE, f"{name} at {where.host} ({forge.kind}), with a token from {token.source}")
    text = f"{name} at {where.host} ({forge.kind}): no token found, so pull requests have to be opened by hand"
    variables = " or ".join((PLAIT_VARIABLE, *forge.list_token_variables(where, os.environ)))
    hint = f"Set {variables}{f', or log in: {forge.login_command}' if forge.login_command else ''}."
    return DoctorCheck(_REMOTE, CheckStatus.OK, text, hint)


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
