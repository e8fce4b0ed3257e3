"""What batches leave behind, and what of it can be removed: never what is in use, and never what is neither merged nor saved.

These are facts as inventory.py found them, and the rules decide from them alone. `kind` is what people and JSON call an item.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import assert_never

from plait.core.fast_dataclass import dataclass

FRESH_SECONDS = 3600.0  # seconds: what is younger, and of no batch, may be on its way to the journal
STALE_LOCK_SECONDS = 600.0  # seconds: no git holds a lock for longer


@dataclass(frozen=True, slots=True)
class GcBatch:
    """What the journal knows of a batch. `is_over`: nothing of it runs, is pending or is being published.

    `since` is when it ended, `tasks` are the ids of its tasks, `branch` is its branch (empty if it ran in place).
    """

    id: str
    is_over: bool
    since: float = 0.0
    tasks: tuple[str, ...] = ()
    branch: str = ""


class WorktreeUse(StrEnum):
    TASK = "task"
    GATE = "gate"
    SIDE = "side"  # beside a task's, for a process of its attempt
    POOL = "pool"
    MAKING = "making"


_WORKTREE_KINDS = {
    WorktreeUse.TASK: "workspace",
    WorktreeUse.GATE: "gate's workspace",
    WorktreeUse.SIDE: "judge's workspace",
    WorktreeUse.POOL: "pooled worktree",
    WorktreeUse.MAKING: "half-made worktree",
}


@dataclass(frozen=True, slots=True)
class WorktreeItem:
    """A worktree of plait's. `entry` is the name of its gitdir (empty: none), `exists`: its files do.

    `locked` is the reason of its lock, `pids` are the processes running in it, `making`: it is being made. `unsaved`: it may
    contain work that no ref has. `parent_missing`: the folder around it is missing, too. `owner` is the git folder of another
    repository whose worktree it is.
    """

    path: str
    use: WorktreeUse
    batch: str = ""
    task: str = ""
    entry: str = ""
    exists: bool = True
    size: int = 0
    locked: str | None = None
    pids: tuple[int, ...] = ()
    making: bool = False
    unsaved: bool = False
    parent_missing: bool = False
    age: float = 0.0
    owner: str = ""

    @property
    def kind(self) -> str:
        return _WORKTREE_KINDS[self.use]

    @property
    def is_complete(self) -> bool:
        return self.exists and bool(self.entry)


class PathKind(StrEnum):
    TRASH = "trash"  # or a temporary folder that a killed process left; never work
    SETUPS = "setups"  # what setup commands made, cached for the next workspace
    TRANSCRIPTS = "transcripts"
    BATCH_FOLDER = "batch folder"  # the inputs of a batch
    LOCK = "stale lock"  # a ref or index lock that a git of plait left
    LOST_WORKSPACES = "lost workspaces"  # their repository no longer exists


@dataclass(frozen=True, slots=True)
class PathItem:
    """A file or folder. `age` is the time in seconds since its last use, where that matters. `has_transcripts`: the
    batch of this batch folder has transcripts. `repository` is the one that lost workspaces were of.
    """

    kind: PathKind
    path: str
    batch: str = ""
    size: int = 0
    age: float = 0.0
    has_transcripts: bool = False
    repository: str = ""


@dataclass(frozen=True, slots=True)
class BranchItem:
    """A branch of plait's: a task's, or the batch's own if `task` is empty.

    `merged`: another ref contains it. `pushed`: a plait branch on a remote contains it. `in_batch_branch`: the batch branch contains it.
    `saved`: a ref under refs/plait contains it. `checked_out_in` is the worktree that has it checked out.
    """

    kind = "branch"
    size = 0
    name: str
    tip: str
    batch: str
    task: str = ""
    merged: bool = False
    pushed: bool = False
    in_batch_branch: bool = False
    saved: bool = False
    checked_out_in: str = ""


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
class BrokenRefItem:
    """A ref or branch of plait's whose objects are missing. `missing` says what is missing."""

    kind = "broken ref"
    size = 0
    name: str
    tip: str
    batch: str
    task: str = ""
    missing: str = ""
    checked_out_in: str = ""


GcItem = WorktreeItem | PathItem | BranchItem | RefItem | BrokenRefItem


@dataclass(frozen=True, slots=True)
class GcFacts:
    now: float
    batches: Mapping[str, GcBatch]
    items: tuple[GcItem, ...]


@dataclass(frozen=True, slots=True)
class GcOptions:
    """What to remove. `older`: only batches that ended at least that many seconds ago, but more of what they left.
    `forget` are batch ids.

    `unmerged`: remove their unmerged work, too. `lost`: remove what is left of repositories that no longer exist.
    """

    older: float | None = None
    forget: frozenset[str] = frozenset()
    unmerged: bool = False
    lost: bool = False


@dataclass(frozen=True, slots=True)
class Removal:
    """A decision to remove an item; if `save`, after saving it under refs/plait/saved. `why` is for people."""

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


def plan_gc(facts: GcFacts, options: GcOptions) -> GcPlan:
    """Plan the removals in the order of execution: a branch can go when no worktree has it checked out any more."""
    worktree_decisions = [decide(facts, options, item) for item in facts.items if isinstance(item, WorktreeItem)]
    removed_paths = {
        decision.item.path
        for decision in worktree_decisions
        if isinstance(decision, Removal) and isinstance(decision.item, WorktreeItem)
    }
    others = [_without_checkout(item, removed_paths) for item in facts.items if not isinstance(item, WorktreeItem)]
    decisions = [*worktree_decisions, *(decide(facts, options, item) for item in others)]
    return GcPlan(
        tuple(decision for decision in decisions if isinstance(decision, Removal)),
        tuple(decision for decision in decisions if isinstance(decision, KeptItem)),
    )


def _without_checkout(item: GcItem, removed: Collection[str]) -> GcItem:
    if isinstance(item, BranchItem | BrokenRefItem) and item.checked_out_in in removed:
        return replace(item, checked_out_in="")
    return item


def decide(facts: GcFacts, options: GcOptions, item: GcItem) -> Removal | KeptItem:
    why = _why_in_use(item)
    if isinstance(item, BrokenRefItem):  # no batch needs it: what it held is made again
        return KeptItem(item, why) if why else Removal(item, item.missing, save=bool(item.tip))
    if why := why or _why_batch_needs(facts, options, item):
        return KeptItem(item, why)
    match item:
        case WorktreeItem():
            return _decide_worktree(facts, options, item)
        case BranchItem():
            return _decide_branch(facts, options, item)
        case RefItem():
            return _decide_ref(options, item)
        case PathItem():
            return _decide_path(facts, options, item)
        case _:
            assert_never(item)


def _why_in_use(item: GcItem) -> str:
    """Say why an item is in use; empty if it is not."""
    if isinstance(item, BranchItem | BrokenRefItem) and item.checked_out_in:
        return f"checked out in {item.checked_out_in}"
    if not isinstance(item, WorktreeItem):
        return ""
    if item.owner:
        return f"belongs to the repository in {item.owner}, of which this is a copy"
    if item.locked is not None:
        return f"locked{f': {item.locked}' if item.locked else ''}"
    if item.pids:
        others = f" and {len(item.pids) - 1} more" if len(item.pids) > 1 else ""
        return f"process {item.pids[0]}{others} is running in it"
    if item.making:
        return "just being made"
    return "the folder is missing, perhaps on a drive that is not mounted" if item.parent_missing else ""


def _why_batch_needs(facts: GcFacts, options: GcOptions, item: GcItem) -> str:
    """Say why an item's batch needs it; empty if the batch has ended or is unknown, or if there is none."""
    batch = facts.batches.get(item.batch)
    if batch is None:
        return ""
    if not batch.is_over:
        return f"batch {batch.id} has not ended"
    young = options.older is not None and facts.now - batch.since < options.older
    return f"batch {batch.id} ended more recently" if young and item.batch not in options.forget else ""


def _decide_worktree(facts: GcFacts, options: GcOptions, item: WorktreeItem) -> Removal | KeptItem:
    if item.use is WorktreeUse.POOL:
        if running := _find_open_batch(facts):
            return KeptItem(item, f"perhaps for the next task of batch {running}")
        why = "not needed by any batch"
    elif item.use is WorktreeUse.MAKING:
        why = "the creator has exited"
    elif item.batch not in facts.batches:
        if item.age < max(FRESH_SECONDS, options.older or 0.0):
            return KeptItem(item, "unknown batch, perhaps being submitted")
        why = "unknown batch"
    else:
        why = "the batch has ended" if item.is_complete else "incomplete"
    return Removal(item, why, save=item.unsaved)


def _find_open_batch(facts: GcFacts) -> str:
    return next((batch.id for batch in facts.batches.values() if not batch.is_over), "")


def _decide_path(facts: GcFacts, options: GcOptions, item: PathItem) -> Removal | KeptItem:
    match item.kind:
        case PathKind.TRASH:
            return Removal(item, "in the trash")
        case PathKind.LOCK if item.age < STALE_LOCK_SECONDS:
            return KeptItem(item, "perhaps in use")
        case PathKind.LOCK:
            return Removal(item, "the holder has exited")
        case PathKind.LOST_WORKSPACES if options.lost:
            return Removal(item, f"the repository {item.repository} is gone")
        case PathKind.LOST_WORKSPACES:
            return KeptItem(item, f"the repository {item.repository} is gone; remove with --forget-lost")
        case PathKind.SETUPS:
            return _decide_setups(facts, options, item)
        case PathKind.TRANSCRIPTS | PathKind.BATCH_FOLDER:
            return _decide_batch_files(facts, options, item)
        case _:
            assert_never(item.kind)


def _decide_setups(facts: GcFacts, options: GcOptions, item: PathItem) -> Removal | KeptItem:
    if running := _find_open_batch(facts):
        return KeptItem(item, f"perhaps for the next task of batch {running}")
    if options.older is None or item.age < options.older:
        return KeptItem(item, "speeds up the next batch; removed with --older when unused for that long")
    return Removal(item, "not used for a long time")


def _decide_batch_files(facts: GcFacts, options: GcOptions, item: PathItem) -> Removal | KeptItem:
    if item.batch in options.forget:
        return Removal(item, "the batch is given with --forget")
    if item.kind is PathKind.TRANSCRIPTS:
        if options.older is not None:
            return Removal(item, "the batch ended long ago")
        return KeptItem(item, "transcripts are only removed with --older or --forget")
    if item.batch in facts.batches:
        return KeptItem(item, "needed for a retry; remove with --forget")
    if item.has_transcripts:
        return KeptItem(item, "unknown batch; remove with --forget")
    if item.age < max(FRESH_SECONDS, options.older or 0.0):
        return KeptItem(item, "perhaps being submitted")
    return Removal(item, "never submitted")


def _decide_branch(facts: GcFacts, options: GcOptions, item: BranchItem) -> Removal | KeptItem:
    shipped = item.merged or item.pushed
    if item.batch in options.forget:
        return Removal(item, "the batch is given with --forget", save=not (shipped or options.unmerged))
    if item.merged:
        return Removal(item, "merged")
    if item.batch not in facts.batches:
        return KeptItem(item, "unknown batch")
    if item.task and item.in_batch_branch:
        return Removal(item, "in the batch branch", save=not (shipped or item.saved))
    if options.older is not None:
        return Removal(item, "the batch ended long ago", save=not (shipped or item.saved))
    return KeptItem(item, "pushed, but not merged as far as known here" if item.pushed else "not merged")


def _decide_ref(options: GcOptions, item: RefItem) -> Removal | KeptItem:
    if item.batch not in options.forget:
        return KeptItem(item, "can be restored; remove with --forget")
    if item.elsewhere:
        return Removal(item, "merged or pushed")
    if options.unmerged:
        return Removal(item, "never merged, but --with-unmerged is given")
    return KeptItem(item, "never merged; remove with --with-unmerged")
