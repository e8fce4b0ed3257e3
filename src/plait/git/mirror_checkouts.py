"""Checkouts of a mirror, from which the sources of a batch are read, as if a person had cloned the repository.

checkouts/<commit>/<name>     detached at that commit; `.ready` beside it has the whole commit, and the time of its last use
checkouts/<commit>-2/<name>   the same, where an open batch has changed the first

There is one for each commit, so that it never moves during a batch; a new one is cheap compared to a batch. Changes
that were left in one are saved under refs/plait/saved before it is reset or removed.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from plait.git.command import Git, GitError
from plait.git.refs import saved_ref
from plait.system.atomic_files import make_private_folder, replace_file
from plait.system.locks import hold_lock

if TYPE_CHECKING:
    from plait.git.mirror import Mirror

CHECKOUTS_FOLDER = "checkouts"
UNUSED_SECONDS = 86400.0  # seconds: a client that reads one has submitted its batch by then
_READY_FILE, _LOCK_FILE = ".ready", "lock"
_SHORT_LENGTH = 16
_GITLINK = ":000000 160000 "


def check_out(mirror: Mirror, commit: str, in_use: Collection[Path]) -> Path:
    """A checkout of exactly this commit. A changed one is saved and reset, or left alone if it is in use."""
    used = {os.path.realpath(path) for path in in_use}
    root = mirror.git_dir.parent / CHECKOUTS_FOLDER
    with hold_lock(root / _LOCK_FILE):
        for folder in _candidates(root, commit):
            path = folder / mirror.name
            if not (folder / _READY_FILE).exists() or not path.is_dir():
                return _make(mirror, path, commit)
            own = mirror.git_at(path)
            if _is_clean(own, commit) or (os.path.realpath(path) not in used and _refresh(own, commit)):
                (folder / _READY_FILE).touch()
                return path
    raise AssertionError("there is always another name")


def list_stale_checkouts(mirror: Mirror, in_use: Collection[Path], min_age: float = UNUSED_SECONDS) -> list[Path]:
    """Those that no open batch uses and that were not requested for `min_age` seconds."""
    used = {os.path.realpath(path) for path in in_use}
    found = sorted((mirror.git_dir.parent / CHECKOUTS_FOLDER).glob(f"*/{mirror.name}"))
    return [path for path in found if os.path.realpath(path) not in used and _age(path) >= min_age]


def remove_checkout(mirror: Mirror, path: Path) -> bool:
    """False, and it stays, if something in it cannot be saved."""
    ready = path.parent / _READY_FILE
    with hold_lock(path.parent.parent / _LOCK_FILE):
        if ready.exists():
            own = mirror.git_at(path)
            commit = ready.read_text().strip()
            if not _is_clean(own, commit) and not _save(own, commit):
                return False
            ready.unlink()  # from here on it can be deleted, even after a crash
        _discard(mirror, path)
    return True


def _candidates(root: Path, commit: str) -> Iterator[Path]:
    for n in count(1):
        yield root / (commit[:_SHORT_LENGTH] if n == 1 else f"{commit[:_SHORT_LENGTH]}-{n}")


def _make(mirror: Mirror, path: Path, commit: str) -> Path:
    """Replaces what a killed plait left there."""
    _discard(mirror, path)
    make_private_folder(path.parent)
    # Twice --force: git may remember one of that name, and that it was being made.
    mirror.git.run("worktree", "add", "--force", "--force", "--detach", "--no-checkout", str(path), commit)
    mirror.git_at(path).run("reset", "--quiet", "--hard")
    replace_file(path.parent / _READY_FILE, f"{commit}\n".encode(), mode=0o666)
    return path


def _discard(mirror: Mirror, path: Path) -> None:
    if path.is_dir():
        mirror.git.run("worktree", "remove", "--force", "--force", str(path), codes=(0, 128))
    if path.parent.is_dir():
        shutil.rmtree(path.parent)


def _is_clean(own: Git, commit: str) -> bool:
    """Whether it is exactly this commit; False if git cannot read it."""
    with suppress(GitError):
        return own.text("rev-parse", "HEAD") == commit and not _read_status(own)
    return False


def _read_status(own: Git) -> str:
    return own.text("status", "--porcelain", "-z", "--untracked-files=all", "--ignore-submodules=dirty")


def _refresh(own: Git, commit: str) -> bool:
    """Reset to the commit; ignored files stay, since workspaces may need them."""
    with suppress(GitError):
        if _save(own, commit):
            own.run("checkout", "--quiet", "--force", "--detach", commit)
            own.run("clean", "--quiet", "-fd")
            return _is_clean(own, commit)
    return False


def _save(own: Git, commit: str) -> bool:
    """Save all changes under a ref; False if there is something that no commit can hold."""
    with suppress(GitError):
        tip = _commit_everything(own)
        if tip is not None:
            _keep_ref(own, commit, tip)
            return True
    return False


def _commit_everything(own: Git) -> str | None:
    """Local commits, with uncommitted changes on top. None if there is a nested repository."""
    index = own.cwd.parent / f".index-{token_hex(4)}"
    aside = own.with_options(variables={"GIT_INDEX_FILE": str(index)})
    try:
        aside.run("read-tree", "HEAD")
        aside.run("add", "--all")
        changed = aside.text("diff-index", "--cached", "HEAD")
        if _GITLINK in changed:
            return None
        if not changed:
            return own.text("rev-parse", "HEAD")
        message = b"What was left in a checkout of a mirror\n"
        return aside.commit_as_plait(aside.text("write-tree"), ["HEAD"], message)
    finally:
        index.unlink(missing_ok=True)


def _keep_ref(own: Git, commit: str, tip: str) -> None:
    """Under the first free number."""
    for n in count(1):
        ref = saved_ref("checkout", commit[:_SHORT_LENGTH], n)
        there = own.read_ref(ref)
        if not there:
            own.create_ref(ref, tip)
        if there in {"", tip}:
            return


def _age(path: Path) -> float:
    for each in (path.parent / _READY_FILE, path):
        with suppress(OSError):
            return time.time() - each.stat().st_mtime
    return 0.0
