"""Decides what can be removed: never what is in use, and never what is neither merged nor saved."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import assert_never

from plait.git.gc.items import (
    BatchFolderItem,
    BranchItem,
    GcFacts,
    GcItem,
    GcOptions,
    GcPlan,
    KeptItem,
    LockItem,
    LostRepositoryItem,
    RefItem,
    Removal,
    SetupCacheItem,
    TranscriptsItem,
    TrashItem,
    WorktreeItem,
    WorktreeUse,
)

FRESH_SECONDS = 3600.0  # seconds: what is younger, and of no batch, may be on its way to the journal
STALE_LOCK_SECONDS = 600.0  # seconds: no git holds a lock for longer


def plan_gc(facts: GcFacts, options: GcOptions) -> GcPlan:
    """In the order of execution: a branch can go when no worktree has it checked out any more."""
    first = [decide(facts, options, thing) for thing in facts.items if isinstance(thing, WorktreeItem)]
    going = {each.item.path for each in first if isinstance(each, Removal) and isinstance(each.item, WorktreeItem)}
    rest = [_without_checkout(thing, going) for thing in facts.items if not isinstance(thing, WorktreeItem)]
    judged = [*first, *(decide(facts, options, thing) for thing in rest)]
    return GcPlan(
        tuple(each for each in judged if isinstance(each, Removal)),
        tuple(each for each in judged if isinstance(each, KeptItem)),
    )


def _without_checkout(item: GcItem, removed: Collection[str]) -> GcItem:
    return replace(item, open_in="") if isinstance(item, BranchItem) and item.open_in in removed else item


def decide(facts: GcFacts, options: GcOptions, item: GcItem) -> Removal | KeptItem:
    match item:
        case TrashItem():
            return Removal(item, "it is in the trash")
        case LostRepositoryItem():
            return _decide_lost(options, item)
        case SetupCacheItem():
            return _decide_setup_cache(facts, options, item)
        case WorktreeItem():
            return _kept_by_use(item) or _decide_worktree(facts, options, item)
        case BranchItem(open_in=where) if where:
            return KeptItem(item, f"it is checked out in {where}")
        case _:
            return _kept_by_batch(facts, options, item) or _decide_batch_item(facts, options, item)


BatchItem = LockItem | TranscriptsItem | BatchFolderItem | BranchItem | RefItem


def _decide_batch_item(facts: GcFacts, options: GcOptions, item: BatchItem) -> Removal | KeptItem:
    """Its batch is over or unknown."""
    match item:
        case LockItem():
            return _decide_lock(item)
        case TranscriptsItem():
            return _decide_transcripts(options, item)
        case BatchFolderItem():
            return _decide_folder(facts, options, item)
        case BranchItem():
            return _decide_branch(facts, options, item)
        case RefItem():
            return _decide_ref(options, item)
        case _:
            assert_never(item)


def _kept_by_batch(facts: GcFacts, options: GcOptions, item: WorktreeItem | BatchItem) -> KeptItem | None:
    """What stays because of its batch."""
    batch = facts.batches.get(item.batch)
    if batch is None:
        return None
    if not batch.is_over:
        return KeptItem(item, f"batch {batch.id} is not over")
    young = options.older is not None and facts.now - batch.since < options.older
    if young and item.batch not in options.forget:
        return KeptItem(item, f"batch {batch.id} ended more recently")
    return None


def _kept_by_use(item: WorktreeItem) -> KeptItem | None:
    if item.locked is not None:
        return KeptItem(item, f"it is locked{f': {item.locked}' if item.locked else ''}")
    if item.inside:
        more = f" and {len(item.inside) - 1} more" if len(item.inside) > 1 else ""
        return KeptItem(item, f"process {item.inside[0]}{more} is running in it")
    if item.making:
        return KeptItem(item, "it is just being made")
    if item.away:
        return KeptItem(item, "its folder is missing: it may be on a drive that is not mounted")
    return None


def _decide_pooled(facts: GcFacts, item: WorktreeItem) -> Removal | KeptItem:
    going = _find_open_batch(facts)
    if going:
        return KeptItem(item, f"the next task of batch {going} may get it")
    return Removal(item, "no batch needs it", save=item.unsaved)


def _decide_setup_cache(facts: GcFacts, options: GcOptions, item: SetupCacheItem) -> Removal | KeptItem:
    going = _find_open_batch(facts)
    if going:
        return KeptItem(item, f"the next task of batch {going} may use it")
    if options.older is None or item.age < options.older:
        return KeptItem(item, "it speeds up the next batch; --older removes it when it was not used for that long")
    return Removal(item, "it was not used for a long time")


def _find_open_batch(facts: GcFacts) -> str:
    return next((batch.id for batch in facts.batches.values() if not batch.is_over), "")


def _decide_worktree(facts: GcFacts, options: GcOptions, item: WorktreeItem) -> Removal | KeptItem:
    match item.use:
        case WorktreeUse.POOL:
            return _decide_pooled(facts, item)
        case WorktreeUse.MAKING:
            gone = Removal(item, "its creator has exited", save=item.unsaved)
            return _kept_by_batch(facts, options, item) or gone
        case WorktreeUse.TASK | WorktreeUse.GATE:
            return _kept_by_batch(facts, options, item) or _decide_leased(facts, options, item)
        case _:
            assert_never(item.use)


def _decide_leased(facts: GcFacts, options: GcOptions, item: WorktreeItem) -> Removal | KeptItem:
    if item.batch not in facts.batches:
        if item.age < max(FRESH_SECONDS, options.older or 0.0):
            return KeptItem(item, "unknown batch; it may be being submitted")
        return Removal(item, "unknown batch", save=item.unsaved)
    why = "its batch is over" if item.is_complete else "it is incomplete"
    return Removal(item, why, save=item.unsaved)


def _decide_lock(item: LockItem) -> Removal | KeptItem:
    if item.age < STALE_LOCK_SECONDS:
        return KeptItem(item, "it may be in use")
    return Removal(item, "its holder has exited")


def _decide_transcripts(options: GcOptions, item: TranscriptsItem) -> Removal | KeptItem:
    if item.batch in options.forget:
        return Removal(item, "its batch is given with --forget")
    if options.older is not None:
        return Removal(item, "the batch ended long ago")
    return KeptItem(item, "transcripts are only removed with --older or --forget")


def _decide_folder(facts: GcFacts, options: GcOptions, item: BatchFolderItem) -> Removal | KeptItem:
    if item.batch in options.forget:
        return Removal(item, "its batch is given with --forget")
    if item.batch in facts.batches:
        return KeptItem(item, "a retry needs it; remove it with --forget")
    if item.begun:
        return KeptItem(item, "unknown batch; remove it with --forget")
    if item.age < max(FRESH_SECONDS, options.older or 0.0):
        return KeptItem(item, "it may be being submitted")
    return Removal(item, "it was never submitted")


def _decide_branch(facts: GcFacts, options: GcOptions, item: BranchItem) -> Removal | KeptItem:
    shipped = item.merged or item.pushed
    if item.batch in options.forget:
        return Removal(item, "its batch is given with --forget", save=not (shipped or options.unmerged))
    if item.merged:
        return Removal(item, "it is merged")
    if item.batch not in facts.batches:
        return KeptItem(item, "unknown batch")
    if item.task and item.joined:
        return Removal(item, "the batch branch has it", save=not (shipped or item.saved))
    if options.older is not None:
        return Removal(item, "the batch ended long ago", save=not (shipped or item.saved))
    return KeptItem(item, "it is pushed, but not merged as far as known here" if item.pushed else "it is not merged")


def _decide_ref(options: GcOptions, item: RefItem) -> Removal | KeptItem:
    if item.batch not in options.forget:
        return KeptItem(item, "it can be restored; remove it with --forget")
    if item.elsewhere:
        return Removal(item, "it is merged or pushed")
    if options.unmerged:
        return Removal(item, "it was never merged, but --with-unmerged is given")
    return KeptItem(item, "it was never merged; remove it with --with-unmerged")


def _decide_lost(options: GcOptions, item: LostRepositoryItem) -> Removal | KeptItem:
    if options.lost:
        return Removal(item, f"the repository {item.repository} is gone")
    return KeptItem(item, f"the repository {item.repository} is gone; remove it with --forget-lost")
