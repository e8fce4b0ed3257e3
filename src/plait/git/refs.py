"""The names of plait's branches and refs (valid for any id, and different for different ids), and their lock files."""

from __future__ import annotations

import hashlib
import os
import re
import stat
import time
from contextlib import suppress
from pathlib import Path

from plait.core.task import Attempt
from plait.system.atomic_files import read_regular_file

_SAFE_NAME = re.compile(r"[a-z0-9](?:[a-z0-9_-]|\.(?!\.)){0,79}\Z")
_UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9_-]+")
_SLUG_LENGTH = 60
_REF_COMPONENT = re.compile(r"[a-z0-9+._-]+")  # what ref_component makes
_MAX_REF_BYTES = 256
_REF_STORAGE_VARIABLE = "GIT_REFERENCE_BACKEND"
OBJECT_ID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
SAVED = "refs/plait/saved"
ATTEMPTS = "refs/plait/attempts"
BASES = "refs/plait/bases"
PRE_REBUILDS = "refs/plait/lines"
_BATCH_BRANCH_PREFIX = "plait/batch-"
_TASK_BRANCH_PREFIX = "plait/task-"


def ref_component(name: str) -> str:
    """Return a ref's part for a name. It is lower case only: refs are files, and a file system may ignore case."""
    if _SAFE_NAME.match(name) and not name.endswith((".", ".lock")):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    slug = _UNSAFE_CHARACTERS.sub("-", name).strip("-").lower()[:_SLUG_LENGTH].rstrip("-")
    return f"{slug}+{digest}" if slug else f"x+{digest}"


def batch_branch(batch: str) -> str:
    """Return the branch of a new batch.

    Only `Session` in client/session.py calls it, when it submits the batch. The batch stores the name
    (`Submit.branch`), and everything else reads it from there. gc and the push to a remote, which meet branches of
    unknown batches, use `parse_batch_branch` and `is_batch_branch`.
    """
    return f"{_BATCH_BRANCH_PREFIX}{ref_component(batch)}"


def parse_batch_branch(branch: str) -> str:
    """Return the batch's part of the name of a batch branch; empty for any other branch."""
    return branch.removeprefix(_BATCH_BRANCH_PREFIX) if branch.startswith(_BATCH_BRANCH_PREFIX) else ""


def is_batch_branch(branch: str) -> bool:
    """Whether `batch_branch` can have made this name."""
    return _REF_COMPONENT.fullmatch(parse_batch_branch(branch)) is not None


def is_plait_branch(branch: str) -> bool:
    """Whether the name is like that of a batch's or a task's branch."""
    return branch.startswith((_BATCH_BRANCH_PREFIX, _TASK_BRANCH_PREFIX))


def task_branch(batch: str, task: str) -> str:
    return f"{_TASK_BRANCH_PREFIX}{ref_component(batch)}-{ref_component(task)}"


def attempt_ref(attempt: Attempt) -> str:
    """Return the ref for the result of an attempt, which is kept as long as its batch."""
    return f"{ATTEMPTS}/{ref_component(attempt.batch)}/{ref_component(attempt.task)}/{attempt.step.value}-{attempt.n}"


def resolution_ref(batch: str, task: str, commit: str) -> str:
    """Return the ref for a person's resolution of a conflict, which is kept as long as its batch."""
    return f"{ATTEMPTS}/{ref_component(batch)}/{ref_component(task)}/resolved-{commit[:16]}"


def saved_ref(batch: str, task: str, n: int) -> str:
    """Return the nth ref for saved work of a task."""
    return f"{SAVED}/{ref_component(batch)}/{ref_component(task)}/{n}"


def pre_rebuild_ref(batch: str, n: int) -> str:
    """Return the ref for the batch branch as it was before its nth rebuild."""
    return f"{PRE_REBUILDS}/{ref_component(batch)}/{n}"


def has_ref_files(git_dir: Path) -> bool:
    """Whether refs are files in the git folder. Newer git may have them in tables (2.45), or elsewhere (2.54)."""
    try:
        is_set = b"refstorage" in (git_dir / "config").read_bytes().lower()
    except OSError:
        is_set = (git_dir / "reftable").is_dir()
    return not is_set and _REF_STORAGE_VARIABLE not in os.environ


def may_have_ref(git_dir: Path, name: str) -> bool:
    """Whether there may be a ref with this name or below it, even a broken one. Only files are read, because asking git
    takes a process.
    """
    if not has_ref_files(git_dir) or os.path.lexists(git_dir / name):
        return True
    try:  # last: a ref that is packed meanwhile is in this file before its own is removed
        return f" {name}".encode() in (git_dir / "packed-refs").read_bytes()
    except FileNotFoundError:
        return False
    except OSError:
        return True


def read_loose_ref(git_dir: Path, name: str) -> str:
    """Return the object that a loose ref holds, which may be missing. Empty if the ref has no file of its own; it may
    exist nevertheless.
    """
    if ".." in name:  # an agent may have written it to HEAD
        return ""
    try:
        text = read_regular_file(git_dir / name, _MAX_REF_BYTES).decode("ascii", "replace").strip()
    except OSError:
        return ""
    return text if OBJECT_ID.match(text) else ""


def move_loose_ref(git_dir: Path, name: str, old: str, new: str) -> bool:
    """Move a ref as `git update-ref` does without a reflog, but without a process. False if git is needed.

    Git is needed if the ref has no file of its own with `old` in it, if its lock is held, or if it has a reflog. The
    new object has to exist. Raises OSError.
    """
    path, lock = f"{git_dir}/{name}", f"{git_dir}/{name}.lock"
    if not old or not has_ref_files(git_dir) or os.path.lexists(git_dir / "logs" / name):
        return False
    try:
        fd = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except OSError:
        return False
    is_written = False
    try:
        with open(fd, "wb") as file:  # noqa: PTH123 - a descriptor
            if read_loose_ref(git_dir, name) == old:
                os.fchmod(fd, stat.S_IMODE(os.stat(path).st_mode))  # noqa: PTH116 - faster
                file.write(f"{new}\n".encode())
                file.flush()
                os.fsync(fd)
                is_written = True
    finally:
        (os.rename(lock, path) if is_written else os.unlink(lock))  # noqa: PTH104, PTH108 - faster
    return is_written


def remove_blank_ref(git_dir: Path, name: str) -> None:
    """Remove the file of a ref of plait's that a loss of power has emptied: git can neither read it nor replace it."""
    if has_ref_files(git_dir):
        with suppress(OSError):
            if not read_regular_file(git_dir / name, _MAX_REF_BYTES).strip(b"\0\r\n "):
                (git_dir / name).unlink()


def remove_stale_lock(git_dir: Path, ref: str, min_age_seconds: float) -> bool:
    """Remove the lock that a killed git left on a ref; return whether there was one that old."""
    lock = git_dir / f"{ref}.lock"
    with suppress(OSError):
        if time.time() - lock.stat().st_mtime > min_age_seconds:
            lock.unlink()
            return True
    return False
