"""What can go. Nothing that is in use, and nothing that is neither merged nor saved, is ever in the plan."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import assert_never

from plait.adapters.attic.model import (
    Branch,
    Cleanup,
    Facts,
    Folder,
    Item,
    Kept,
    Lock,
    Lost,
    Ref,
    Setups,
    Thing,
    Transcripts,
    Trash,
    Use,
    Wish,
    Worktree,
)

FRESH = 3600.0  # seconds: what is younger, and of no batch, may be on its way to the journal
STALE = 600.0  # seconds: no git holds a lock for longer


def plan_cleanup(facts: Facts, wish: Wish) -> Cleanup:
    """In the order in which it is to be done: a branch can go when no worktree has it checked out any more."""
    first = [judge(facts, wish, thing) for thing in facts.things if isinstance(thing, Worktree)]
    going = {each.thing.path for each in first if isinstance(each, Item) and isinstance(each.thing, Worktree)}
    rest = [_freed(thing, going) for thing in facts.things if not isinstance(thing, Worktree)]
    judged = [*first, *(judge(facts, wish, thing) for thing in rest)]
    return Cleanup(
        tuple(each for each in judged if isinstance(each, Item)),
        tuple(each for each in judged if isinstance(each, Kept)),
    )


def _freed(thing: Thing, going: Collection[str]) -> Thing:
    return replace(thing, open_in="") if isinstance(thing, Branch) and thing.open_in in going else thing


def judge(facts: Facts, wish: Wish, thing: Thing) -> Item | Kept:
    match thing:
        case Trash():
            return Item(thing, "it was thrown away")
        case Lost():
            return _lost(wish, thing)
        case Setups():
            return _setups(facts, wish, thing)
        case Worktree():
            return _of_use(thing) or _worktree(facts, wish, thing)
        case Branch(open_in=where) if where:
            return Kept(thing, f"it is checked out in {where}")
        case _:
            return _of_batch(facts, wish, thing) or _paper(facts, wish, thing)


Paper = Lock | Transcripts | Folder | Branch | Ref


def _paper(facts: Facts, wish: Wish, thing: Paper) -> Item | Kept:
    """Its batch is over, or there is no such batch."""
    match thing:
        case Lock():
            return _lock(thing)
        case Transcripts():
            return _transcripts(wish, thing)
        case Folder():
            return _folder(facts, wish, thing)
        case Branch():
            return _branch(facts, wish, thing)
        case Ref():
            return _ref(wish, thing)
        case _:
            assert_never(thing)


def _of_batch(facts: Facts, wish: Wish, thing: Worktree | Paper) -> Kept | None:
    """What stays because of its batch, whatever it is."""
    batch = facts.batches.get(thing.batch)
    if batch is None:
        return None
    if not batch.over:
        return Kept(thing, f"batch {batch.id} is not over")
    young = wish.older is not None and facts.now - batch.since < wish.older
    if young and thing.batch not in wish.forget:
        return Kept(thing, f"batch {batch.id} ended later than that")
    return None


def _of_use(thing: Worktree) -> Kept | None:
    if thing.locked is not None:
        return Kept(thing, f"it is locked{f': {thing.locked}' if thing.locked else ''}")
    if thing.inside:
        more = f" and {len(thing.inside) - 1} more" if len(thing.inside) > 1 else ""
        return Kept(thing, f"process {thing.inside[0]}{more} is at work in it")
    if thing.making:
        return Kept(thing, "it is just being made")
    if thing.away:
        return Kept(thing, "its folder can't be seen: it may be on a drive that is not there now")
    return None


def _pooled(facts: Facts, thing: Worktree) -> Item | Kept:
    going = _going(facts)
    if going:
        return Kept(thing, f"the next task of batch {going} may get it")
    return Item(thing, "nobody waits for it", save=thing.unsaved)


def _setups(facts: Facts, wish: Wish, thing: Setups) -> Item | Kept:
    going = _going(facts)
    if going:
        return Kept(thing, f"the next task of batch {going} may use it")
    if wish.older is None or thing.age < wish.older:
        return Kept(
            thing, "the next batch is quicker with it; it goes with --older, when it was not used for so long"
        )
    return Item(thing, "nobody has used it for long")


def _going(facts: Facts) -> str:
    return next((batch.id for batch in facts.batches.values() if not batch.over), "")


def _worktree(facts: Facts, wish: Wish, thing: Worktree) -> Item | Kept:
    match thing.use:
        case Use.POOL:
            return _pooled(facts, thing)
        case Use.MAKING:
            gone = Item(thing, "whoever made it is gone", save=thing.unsaved)
            return _of_batch(facts, wish, thing) or gone
        case Use.TASK | Use.GATE:
            return _of_batch(facts, wish, thing) or _leased(facts, wish, thing)
        case _:
            assert_never(thing.use)


def _leased(facts: Facts, wish: Wish, thing: Worktree) -> Item | Kept:
    if thing.batch not in facts.batches:
        if thing.age < max(FRESH, wish.older or 0.0):
            return Kept(thing, "the journal knows no such batch, but it may be about to")
        return Item(thing, "the journal knows no such batch", save=thing.unsaved)
    why = "its batch is over" if thing.whole else "it was half made or half removed"
    return Item(thing, why, save=thing.unsaved)


def _lock(thing: Lock) -> Item | Kept:
    if thing.age < STALE:
        return Kept(thing, "somebody may hold it")
    return Item(thing, "whoever held it is gone")


def _transcripts(wish: Wish, thing: Transcripts) -> Item | Kept:
    if thing.batch in wish.forget:
        return Item(thing, "the batch is to be forgotten")
    if wish.older is not None:
        return Item(thing, "the batch ended long ago")
    return Kept(thing, "what was printed goes only with --older or --forget")


def _folder(facts: Facts, wish: Wish, thing: Folder) -> Item | Kept:
    if thing.batch in wish.forget:
        return Item(thing, "the batch is to be forgotten")
    if thing.batch in facts.batches:
        return Kept(thing, "a retry needs it; it goes with --forget")
    if thing.begun:
        return Kept(thing, "the journal knows no such batch; it goes with --forget")
    if thing.age < max(FRESH, wish.older or 0.0):
        return Kept(thing, "it may be about to be submitted")
    return Item(thing, "nobody submitted it")


def _branch(facts: Facts, wish: Wish, thing: Branch) -> Item | Kept:
    shipped = thing.merged or thing.pushed
    if thing.batch in wish.forget:
        return Item(thing, "the batch is to be forgotten", save=not (shipped or wish.unmerged))
    if thing.merged:
        return Item(thing, "it is merged")
    if thing.batch not in facts.batches:
        return Kept(thing, "the journal knows no such batch")
    if thing.task and thing.joined:
        return Item(thing, "the batch branch has it", save=not (shipped or thing.saved))
    if wish.older is not None:
        return Item(thing, "the batch ended long ago", save=not (shipped or thing.saved))
    return Kept(
        thing, "it is pushed, and not merged as far as is known here" if thing.pushed else "it is not merged"
    )


def _ref(wish: Wish, thing: Ref) -> Item | Kept:
    if thing.batch not in wish.forget:
        return Kept(thing, "it can be brought back; it goes with --forget")
    if thing.elsewhere:
        return Item(thing, "it is merged or pushed")
    if wish.unmerged:
        return Item(thing, "it was never merged, and is to be forgotten all the same")
    return Kept(thing, "it was never merged; it goes with --with-unmerged")


def _lost(wish: Wish, thing: Lost) -> Item | Kept:
    if wish.lost:
        return Item(thing, f"the repository {thing.repository} is gone")
    return Kept(thing, f"the repository {thing.repository} is gone; it goes with --forget-lost")
