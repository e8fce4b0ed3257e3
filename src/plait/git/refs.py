"""What plait calls its branches and refs. Any id has a name that git takes, and no two ids share one."""

from __future__ import annotations

import hashlib
import re

from plait.core.task import Attempt

_SAFE_NAME = re.compile(r"[a-z0-9](?:[a-z0-9_-]|\.(?!\.)){0,79}\Z")
_UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9_-]+")
_SLUG_LENGTH = 60

SAVED = "refs/plait/saved"
ATTEMPTS = "refs/plait/attempts"
BASES = "refs/plait/bases"
PRE_REBUILDS = "refs/plait/lines"


def ref_component(name: str) -> str:
    """Lower case only: a file system may not tell `A` from `a`, and git keeps refs in files."""
    if _SAFE_NAME.match(name) and not name.endswith((".", ".lock")):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    slug = _UNSAFE_CHARACTERS.sub("-", name).strip("-").lower()[:_SLUG_LENGTH].rstrip("-")
    return f"{slug}+{digest}" if slug else f"x+{digest}"


def batch_branch(batch: str) -> str:
    return f"plait/batch-{ref_component(batch)}"


def task_branch(batch: str, task: str) -> str:
    return f"plait/task-{ref_component(batch)}-{ref_component(task)}"


def attempt_ref(attempt: Attempt) -> str:
    """What this attempt made, for as long as its batch is remembered."""
    return f"{ATTEMPTS}/{ref_component(attempt.batch)}/{ref_component(attempt.task)}/{attempt.step.value}-{attempt.n}"


def saved_ref(batch: str, task: str, n: int) -> str:
    """Work that would have been lost."""
    return f"{SAVED}/{ref_component(batch)}/{ref_component(task)}/{n}"


def base_ref(batch: str) -> str:
    """The commit that a batch began with."""
    return f"{BASES}/{ref_component(batch)}"


def pre_rebuild_ref(batch: str, n: int) -> str:
    """The batch branch as it was before it was made anew for the nth time."""
    return f"{PRE_REBUILDS}/{ref_component(batch)}/{n}"
