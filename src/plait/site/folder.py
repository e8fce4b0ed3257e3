"""Where the files of batches and attempts lie, under the state folder.

batches/<batch>/kit.json, environment.json
batches/<batch>/tasks/<task>/            the task's own folder: the snapshot of its file
batches/<batch>/tasks/<task>/write-1/    one attempt: prompt.md, claim, transcript, exit
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from pathlib import Path

from plait.core.frozen import dataclass
from plait.core.task import Attempt

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}\Z")
_OTHER = re.compile(r"[^A-Za-z0-9._-]+")
_KEPT = 60


def safe(name: str) -> str:
    """A file name for any id: no path escapes by it, and no two ids share one, whatever the case of the file system."""
    if _PLAIN.match(name) and name == name.lower() and not name.endswith("."):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    slug = _OTHER.sub("-", name).strip("-.").lower()[:_KEPT]
    return f"{slug}~{digest}" if slug else f"~{digest}"


def make_private(folder: Path) -> None:
    """Make it, and what is missing above it, for the owner's eyes alone."""
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        if not folder.is_dir():
            raise
    except FileNotFoundError:
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


@dataclass(frozen=True, slots=True)
class AttemptFolder:
    path: Path

    @property
    def transcript(self) -> Path:
        return self.path / "transcript"

    @property
    def claim(self) -> Path:
        return self.path / "claim"

    @property
    def exit(self) -> Path:
        return self.path / "exit"

    @property
    def prompt(self) -> Path:
        return self.path / "prompt.md"


@lru_cache(maxsize=4096)
def _task(root: Path, batch: str, task: str) -> Path:
    return root / "batches" / safe(batch) / "tasks" / safe(task)


@dataclass(frozen=True, slots=True)
class StateFolder:
    """`root` is `Place.state`."""

    root: Path

    @property
    def batches(self) -> Path:
        return self.root / "batches"

    def batch(self, batch: str) -> Path:
        return self.batches / safe(batch)

    def task(self, batch: str, task: str) -> Path:
        return _task(self.root, batch, task)

    def attempt(self, attempt: Attempt) -> AttemptFolder:
        return AttemptFolder(self.task(attempt.batch, attempt.task) / f"{attempt.step.value}-{attempt.n}")
