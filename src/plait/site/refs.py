"""What plait calls its branches and refs. Any id has a name that git takes, and no two ids share one."""

from __future__ import annotations

import hashlib
import re

from plait.core.task import Attempt

_PLAIN = re.compile(r"[a-z0-9](?:[a-z0-9_-]|\.(?!\.)){0,79}\Z")
_OTHER = re.compile(r"[^A-Za-z0-9_-]+")
_KEPT = 60

SAVED = "refs/plait/saved"
ATTEMPTS = "refs/plait/attempts"
BASES = "refs/plait/bases"
LINES = "refs/plait/lines"


def word(name: str) -> str:
    """Lower case only: a file system may not tell `A` from `a`, and git keeps refs in files."""
    if _PLAIN.match(name) and not name.endswith((".", ".lock")):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    slug = _OTHER.sub("-", name).strip("-").lower()[:_KEPT].rstrip("-")
    return f"{slug}+{digest}" if slug else f"x+{digest}"


def batch_branch(batch: str) -> str:
    return f"plait/batch-{word(batch)}"


def task_branch(batch: str, task: str) -> str:
    return f"plait/task-{word(batch)}-{word(task)}"


def attempt_ref(attempt: Attempt) -> str:
    """What this attempt made, for as long as its batch is remembered."""
    return f"{ATTEMPTS}/{word(attempt.batch)}/{word(attempt.task)}/{attempt.step.value}-{attempt.n}"


def saved_ref(batch: str, task: str, n: int) -> str:
    """Work that would have been lost."""
    return f"{SAVED}/{word(batch)}/{word(task)}/{n}"


def base_ref(batch: str) -> str:
    """The commit that a batch began with."""
    return f"{BASES}/{word(batch)}"


def line_ref(batch: str, n: int) -> str:
    """The batch branch as it was before it was made anew for the nth time."""
    return f"{LINES}/{word(batch)}/{n}"
