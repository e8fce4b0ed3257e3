"""Where the workspaces of one repository lie. A worktree's place says what it is, and each change of place is one rename.

batch-<batch>/task-<task>/   leased to a task: made in full, and perhaps worked in
batch-<batch>/gate/          the batch's own, for its gate
making/<id>/                 being made; whoever makes it holds a lock on the folder, so a dead maker's is told from others
pool/<id>/                   given back, waiting for the next task
trash/<id>/                  not needed any more; deleted when there is time
"""

from __future__ import annotations

import uuid
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.system.state_paths import safe_filename

WORKTREE_ID_PREFIX = "plait-"
_BATCH_PREFIX = "batch-"


def new_worktree_id() -> str:
    """Git names its own folder about a worktree after the worktree's: nobody else has this name, ever."""
    return f"{WORKTREE_ID_PREFIX}{uuid.uuid4().hex[:12]}"


@dataclass(frozen=True, slots=True)
class WorkspaceLayout:
    root: Path

    @property
    def making(self) -> Path:
        return self.root / "making"

    @property
    def pool(self) -> Path:
        return self.root / "pool"

    @property
    def trash(self) -> Path:
        return self.root / "trash"

    def batch(self, batch: str) -> Path:
        return self.root / f"{_BATCH_PREFIX}{safe_filename(batch)}"

    def task(self, batch: str, task: str) -> Path:
        return self.batch(batch) / f"task-{safe_filename(task)}"

    def gate(self, batch: str) -> Path:
        return self.batch(batch) / "gate"

    def workspace(self, batch: str, task: str) -> Path:
        """A gate is no task's."""
        return self.task(batch, task) if task else self.gate(batch)

    def list_all(self) -> list[Path]:
        """Everything that takes room, wherever it is on its way."""
        rooms = [self.making, self.pool, self.trash]
        rooms += [each for each in list_children(self.root) if each.name.startswith(_BATCH_PREFIX)]
        return [each for room in rooms for each in list_children(room)]


def list_children(folder: Path) -> list[Path]:
    """None if it is not there, or was just removed."""
    try:
        return sorted(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
