"""The names of plait's branches and refs (valid for any id, and different for different ids), and their lock files."""

from __future__ import annotations

import hashlib
import re
import time
from contextlib import suppress
from pathlib import Path

from plait.core.task import Attempt

_SAFE_NAME = re.compile(r"[a-z0-9](?:[a-z0-9_-]|\.(?!\.)){0,79}\Z")
_UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9_-]+")
_SLUG_LENGTH = 60
_REF_COMPONENT = re.compile(r"[a-z0-9+._-]+")  # what ref_component makes
SAVED = "refs/plait/saved"
ATTEMPTS = "refs/plait/attempts"
BASES = "refs/plait/bases"
PRE_REBUILDS = "refs/plait/lines"
_BATCH_BRANCH_PREFIX = "plait/batch-"
_TASK_BRANCH_PREFIX = "plait/task-"


def ref_component(name: str) -> str:
    """Lower case only: refs are files, and a file system may ignore case."""
    if _SAFE_NAME.match(name) and not name.endswith((".", ".lock")):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    slug = _UNSAFE_CHARACTERS.sub("-", name).strip("-").lower()[:_SLUG_LENGTH].rstrip("-")
    return f"{slug}+{digest}" if slug else f"x+{digest}"


def batch_branch(batch: str) -> str:
    """The branch of a new batch. Only `Session` in client/session.py calls it, when it submits the batch.

    The batch stores the name (`Submit.branch`), and everything else reads it from there. gc and the push to a remote, which
    meet branches of unknown batches, use `parse_batch_branch` and `is_batch_branch`.
    """
    return f"{_BATCH_BRANCH_PREFIX}{ref_component(batch)}"


def parse_batch_branch(branch: str) -> str:
    """The batch's part of the name of a batch branch; empty for any other branch."""
    return branch.removeprefix(_BATCH_BRANCH_PREFIX) if branch.startswith(_BATCH_BRANCH_PREFIX) else ""


def is_batch_branch(branch: str) -> bool:
    """Whether `batch_branch` can have made this name."""
    return _REF_COMPONENT.fullmatch(parse_batch_branch(branch)) is not None


def is_plait_branch(branch: str) -> bool:
    """Whether it is called like the branch of a batch or a task."""
    return branch.startswith((_BATCH_BRANCH_PREFIX, _TASK_BRANCH_PREFIX))


def task_branch(batch: str, task: str) -> str:
    return f"{_TASK_BRANCH_PREFIX}{ref_component(batch)}-{ref_component(task)}"


def attempt_ref(attempt: Attempt) -> str:
    """The result of an attempt, kept as long as its batch."""
    return f"{ATTEMPTS}/{ref_component(attempt.batch)}/{ref_component(attempt.task)}/{attempt.step.value}-{attempt.n}"


def resolution_ref(batch: str, task: str, commit: str) -> str:
    """What a person made of a conflict, kept as long as its batch."""
    return f"{ATTEMPTS}/{ref_component(batch)}/{ref_component(task)}/resolved-{commit[:16]}"


def saved_ref(batch: str, task: str, n: int) -> str:
    """Work that would have been lost."""
    return f"{SAVED}/{ref_component(batch)}/{ref_component(task)}/{n}"


def pre_rebuild_ref(batch: str, n: int) -> str:
    """The batch branch as it was before its nth rebuild."""
    return f"{PRE_REBUILDS}/{ref_component(batch)}/{n}"


def remove_stale_lock(git_dir: Path, ref: str, min_age_seconds: float) -> bool:
    """Remove the lock that a killed git left on a ref; whether there was one that old."""
    lock = git_dir / f"{ref}.lock"
    with suppress(OSError):
        if time.time() - lock.stat().st_mtime > min_age_seconds:
            lock.unlink()
            return True
    return False
