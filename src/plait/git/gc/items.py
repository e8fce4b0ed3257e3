"""What batches leave behind, as it was found. Whether it can go is told by `plan`, from these facts alone."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from plait.core.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class GcBatch:
    """`over`: nothing of it runs, is owed or is being published. `since` is when it ended."""

    id: str
    is_over: bool
    since: float = 0.0


class WorktreeUse(StrEnum):
    TASK = "task"
    GATE = "gate"
    POOL = "pool"
    MAKING = "making"


@dataclass(frozen=True, slots=True)
class WorktreeItem:
    """A worktree of plait's. `entry` is git's own folder about it ("": it has none), `there`: its files are.

    `locked` says why it is locked, `inside` are the processes that work in it, `making`: somebody is just making it.
    `unsaved`: there may be work in it that no ref has. `away`: not even the folder that it should be in is there.
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
    def is_complete(self) -> bool:
        return self.there and bool(self.entry)


@dataclass(frozen=True, slots=True)
class TrashItem:
    """What was thrown away, or put down for a moment by somebody who died. Nothing that is work ever gets there."""

    path: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class SetupCacheItem:
    """What setup commands made, kept for the next workspace. `age` counts from when one was last used."""

    path: str
    size: int = 0
    age: float = 0.0


@dataclass(frozen=True, slots=True)
class TranscriptsItem:
    """What the attempts of a batch printed."""

    batch: str
    path: str
    size: int = 0


@dataclass(frozen=True, slots=True)
class BatchFolderItem:
    """What a batch was submitted with. `begun`: there are transcripts beside it."""

    batch: str
    path: str
    size: int = 0
    begun: bool = False
    age: float = 0.0


@dataclass(frozen=True, slots=True)
class BranchItem:
    """A branch of plait's: a task's, or without a `task` the batch's own.

    `merged`: a ref that is not plait's has all of it. `pushed`: a remote has it, on a branch of plait's. `joined`: the batch
    branch has it. `saved`: a ref under refs/plait has it. `open_in` is the worktree that has it checked out.
    """

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
    """Something under refs/plait. `elsewhere`: a ref that is not plait's, or a remote, has all of it."""

    name: str
    tip: str
    batch: str
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class LockItem:
    """A lock file that a git of plait's left."""

    path: str
    age: float
    batch: str = ""


@dataclass(frozen=True, slots=True)
class LostRepositoryItem:
    """Workspaces whose repository is gone, and its objects with it."""

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
    """`older`: only what belongs to batches that ended so many seconds ago, but of those more. `forget` are batches, by id.

    `unmerged`: what was never merged goes with them. `lost`: also what is left of repositories that are gone.
    """

    older: float | None = None
    forget: frozenset[str] = frozenset()
    unmerged: bool = False
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Removal:
    """It can go. `save`: after it has been put under refs/plait/saved. `why` is for people."""

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
