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

from plait.core.fast_dataclass import dataclass
from plait.core.task import Attempt
from plait.system.atomic_files import write_private_file

_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}\Z")


_UNSAFE_CHARACTERS = re.compile(r"[^A-Za-z0-9._-]+")


_SLUG_LENGTH = 60


def safe_filename(name: str) -> str:
    """A file name for any id: no path escapes by it, and no two ids share one, whatever the case of the file system."""
    if _SAFE_NAME.match(name) and name == name.lower() and not name.endswith("."):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:10]
    slug = _UNSAFE_CHARACTERS.sub("-", name).strip("-.").lower()[:_SLUG_LENGTH]
    return f"{slug}~{digest}" if slug else f"~{digest}"


def mark_batch_forgotten(folder: StateFolder, batch: str) -> None:
    """Remember that nothing is left of what the batch was submitted with: it can't be taken up again."""
    write_private_file(folder.forgotten_marker(batch), "")


@dataclass(frozen=True, slots=True)
class AttemptFolder:
    path: Path

    @property
    def transcript(self) -> Path:
        return self.path / "transcript"

    @property
    def pidfile(self) -> Path:
        return self.path / "claim"

    @property
    def exit_status(self) -> Path:
        return self.path / "exit"

    @property
    def prompt(self) -> Path:
        return self.path / "prompt.md"

    @property
    def setup_spec(self) -> Path:
        """How its workspace is fitted out before it begins, where that is still to be done."""
        return self.path / "outfit.json"


@lru_cache(maxsize=4096)
def _task_folder(root: Path, batch: str, task: str) -> Path:
    return root / "batches" / safe_filename(batch) / "tasks" / safe_filename(task)


@dataclass(frozen=True, slots=True)
class StateFolder:
    """`root` is `Place.state`."""

    root: Path

    @property
    def batches(self) -> Path:
        return self.root / "batches"

    def batch(self, batch: str) -> Path:
        return self.batches / safe_filename(batch)

    def forgotten_marker(self, batch: str) -> Path:
        """There if a person had the batch forgotten."""
        return self.root / "forgotten" / safe_filename(batch)

    def task(self, batch: str, task: str) -> Path:
        return _task_folder(self.root, batch, task)

    def conflict(self, batch: str, task: str) -> Path:
        """Both sides of the task's last conflict, for whoever repairs it."""
        return self.task(batch, task) / "conflict.md"

    def attempt(self, attempt: Attempt) -> AttemptFolder:
        return AttemptFolder(self.task(attempt.batch, attempt.task) / f"{attempt.step.value}-{attempt.n}")
