"""What batches leave behind, as found. removal_rules decides from these facts alone what can be removed.

`kind` is what people and JSON call an item.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from plait.core.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class GcBatch:
    """`is_over`: nothing of it runs, is pending or is being published. `since` is when it ended."""

    id: str
    is_over: bool
    since: float = 0.0


class WorktreeUse(StrEnum):
    TASK = "task"
    GATE = "gate"
    POOL = "pool"
    MAKING = "making"


_WORKTREE_KINDS = {
    WorktreeUse.TASK: "workspace",
    WorktreeUse.GATE: "gate's workspace",
    WorktreeUse.POOL: "pooled worktree",
    WorktreeUse.MAKING: "half-made worktree",
}


@dataclass(frozen=True, slots=True)
class WorktreeItem:
    """A worktree of plait's. `entry` is the name of its admin (empty: none), `there`: its files exist.

    `locked` is the reason of its lock, `inside` are processes running in it, `making`: it is being made. `unsaved`: it may
    contain work that no ref has. `away`: the folder around it is missing, too.
    """

    path: str
    use: WorktreeUse
    batch: str = ""
    task: str = ""
    entry: str = ""
    there: bool = True
    size: int = 0
    locked: str | None = None
    inside: tuple[int, ...] = ()
    making: bool = False
    unsaved: bool = False
    away: bool = False
    age: float = 0.0

    @property
    def kind(self) -> str:
        return _WORKTREE_KINDS[self.use]

    @property
    def is_complete(self) -> bool:
        return self.there and bool(self.entry)


@dataclass(frozen=True, slots=True)
class TrashItem:
    """Trash, or a temporary folder that a killed process left; never work."""

    kind = "trash"
    batch = ""
    path: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class SetupCacheItem:
    """What setup commands made, cached for the next workspace. `age` is the time since the last use."""

    kind = "setups"
    batch = ""
    path: str
    size: int = 0
    age: float = 0.0


@dataclass(frozen=True, slots=True)
class TranscriptsItem:
    """The transcripts of a batch."""

    kind = "transcripts"
    batch: str
    path: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class BatchFolderItem:
    """The inputs of a batch. `begun`: it has transcripts."""

    kind = "batch folder"
    batch: str
    path: str
    size: int = 0
    begun: bool = False
    age: float = 0.0


@dataclass(frozen=True, slots=True)
class BranchItem:
    """A branch of plait's: a task's, or the batch's own if `task` is empty.

    `merged`: another ref contains it. `pushed`: a plait branch on a remote contains it. `joined`: the batch branch contains it.
    `saved`: a ref under refs/plait contains it. `open_in` is the worktree that has it checked out.
    """

    kind = "branch"
    size = 0
    name: str
    tip: str
    batch: str
    task: str = ""
    merged: bool = False
    pushed: bool = False
    joined: bool = False
    saved: bool = False
    open_in: str = ""


@dataclass(frozen=True, slots=True)
class RefItem:
    """A ref under refs/plait. `elsewhere`: another ref or a remote contains it."""

    kind = "ref"
    size = 0
    name: str
    tip: str
    batch: str
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class LockItem:
    """A ref or index lock that a git of plait left."""

    kind = "stale lock"
    size = 0
    path: str
    age: float
    batch: str = ""


@dataclass(frozen=True, slots=True)
class LostRepositoryItem:
    """Workspaces whose repository is gone."""

    kind = "lost workspaces"
    batch = ""
    path: str
    repository: str
    size: int = 0


GcItem = (
    WorktreeItem
    | TrashItem
    | SetupCacheItem
    | TranscriptsItem
    | BatchFolderItem
    | BranchItem
    | RefItem
    | LockItem
    | LostRepositoryItem
)


@dataclass(frozen=True, slots=True)
class GcFacts:
    now: float
    batches: Mapping[str, GcBatch]
    items: tuple[GcItem, ...]


@dataclass(frozen=True, slots=True)
class GcOptions:
    """`older`: only batches that ended that many seconds ago, but more of those. `forget` are batch ids.

    `unmerged`: remove their unmerged work, too. `lost`: remove what is left of repositories that are gone.
    """

    older: float | None = None
    forget: frozenset[str] = frozenset()
    unmerged: bool = False
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Removal:
    """Can be removed. `save`: after saving it under refs/plait/saved. `why` is for people."""

    item: GcItem
    why: str
    save: bool = False


@dataclass(frozen=True, slots=True)
class KeptItem:
    item: GcItem
    why: str


@dataclass(frozen=True, slots=True)
class GcPlan:
    removals: tuple[Removal, ...]
    kept: tuple[KeptItem, ...]
