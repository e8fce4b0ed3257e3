"""What gc plans: nothing that is in use, and nothing that would be lost."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, strategies as st

from plait.adapters.attic.model import (
    Batch,
    Branch,
    Facts,
    Folder,
    Item,
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
from plait.adapters.attic.plan import FRESH, STALE, judge, plan_cleanup

NOW = 1_000_000.0
DAY = 86_400.0

_batches = st.sampled_from(["going", "fresh", "old", "unknown"])
_flags = st.booleans()
_ages = st.sampled_from([0.0, STALE + 1, FRESH + 1, 30 * DAY])
KNOWN = {
    "going": Batch("going", over=False),
    "fresh": Batch("fresh", over=True, since=NOW - 60),
    "old": Batch("old", over=True, since=NOW - 20 * DAY),
}
_plain = st.builds(
    Worktree,
    path=st.sampled_from(["w", "/checkout"]),
    use=st.sampled_from(Use),
    batch=_batches,
    entry=st.sampled_from(["", "e"]),
    there=_flags,
    unsaved=_flags,
    age=_ages,
)
# One reason to stay at a time: each must do by itself.
_reasons: list[dict[str, object]] = [
    {},
    {"locked": ""},
    {"locked": "away"},
    {"inside": (7,)},
    {"making": True},
    {"away": True},
]
_worktrees = st.builds(lambda tree, reason: replace(tree, **reason), _plain, st.sampled_from(_reasons))
_things: st.SearchStrategy[Thing] = st.one_of(
    _worktrees,
    st.builds(Trash, path=st.just("t")),
    st.builds(Transcripts, batch=_batches, path=st.just("x")),
    st.builds(Folder, batch=_batches, path=st.just("f"), begun=_flags, age=_ages),
    st.builds(
        Branch,
        name=st.just("plait/x"),
        tip=st.just("0" * 40),
        batch=_batches,
        task=st.sampled_from(["", "a"]),
        merged=_flags,
        pushed=_flags,
        joined=_flags,
        saved=_flags,
        open_in=st.sampled_from(["", "/checkout"]),
    ),
    st.builds(Ref, name=st.just("refs/plait/x"), tip=st.just("0" * 40), batch=_batches, elsewhere=_flags),
    st.builds(Lock, path=st.just("l"), age=_ages, batch=_batches),
    st.builds(Setups, path=st.just("s"), age=_ages),
    st.builds(Lost, path=st.just("p"), repository=st.just("/gone")),
)
_wishes = st.builds(
    Wish,
    older=st.sampled_from([None, 14 * DAY]),
    forget=st.frozensets(_batches, max_size=2),
    unmerged=_flags,
    lost=_flags,
)


def facts(*things: Thing) -> Facts:
    return Facts(NOW, KNOWN, things)


@given(st.lists(_things, max_size=20), _wishes)
def test_nothing_in_use_and_nothing_unsaved_is_ever_in_the_plan(things: list[Thing], wish: Wish) -> None:
    planned = plan_cleanup(facts(*things), wish)
    assert len(planned.items) + len(planned.kept) == len(things)
    for item in planned.items:
        _not_in_use(item)
        _not_lost(item, wish)


def _not_in_use(item: Item) -> None:
    thing = item.thing
    assert getattr(thing, "batch", "") != "going"
    assert getattr(thing, "locked", None) is None
    assert not getattr(thing, "inside", ())
    assert not getattr(thing, "making", False)
    assert not getattr(thing, "away", False)
    assert not getattr(thing, "open_in", "")
    if isinstance(thing, Worktree):
        assert thing.use is not Use.POOL  # a batch is going


def _not_lost(item: Item, wish: Wish) -> None:
    match item.thing:
        case Worktree() as tree:
            assert item.save or not tree.unsaved
        case Branch() as branch:
            shipped = branch.merged or branch.pushed
            named = branch.batch in wish.forget
            by_name = named and wish.unmerged
            assert item.save or shipped or (branch.saved and not named) or by_name
        case Ref() as ref:
            assert ref.batch in wish.forget
            assert ref.elsewhere or wish.unmerged
        case Transcripts() as printed:
            assert printed.batch in wish.forget or (wish.older is not None and printed.batch != "fresh")
        case Folder() as folder:
            assert folder.batch in wish.forget or not folder.begun
        case Setups():
            raise AssertionError("a batch is going")
        case Lost():
            assert wish.lost
        case Trash() | Lock():
            pass


@given(_things, _flags)
def test_what_is_younger_than_asked_for_stays(thing: Thing, unmerged: bool) -> None:  # noqa: FBT001 - drawn
    wish = Wish(older=14 * DAY, unmerged=unmerged)
    if getattr(thing, "batch", "") == "fresh" and getattr(thing, "use", None) is not Use.POOL:
        assert not isinstance(judge(facts(thing), wish, thing), Item)


def told(thing: Thing, wish: Wish = Wish()) -> tuple[bool, str]:  # noqa: B008 - frozen
    verdict = judge(facts(thing), wish, thing)
    return isinstance(verdict, Item), verdict.why


def test_a_merged_branch_of_a_batch_that_is_over_goes_and_one_that_is_not_stays() -> None:
    tip = "0" * 40
    assert told(Branch("plait/task-old-a", tip, "old", "a", joined=True)) == (True, "the batch branch has it")
    assert told(Branch("plait/task-old-a", tip, "old", "a", saved=True)) == (False, "it is not merged")
    assert told(Branch("plait/batch-old", tip, "old", merged=True)) == (True, "it is merged")
    assert told(Branch("plait/batch-old", tip, "old", joined=True, saved=True)) == (False, "it is not merged")
    assert told(Branch("plait/batch-old", tip, "old", pushed=True)) == (
        False,
        "it is pushed, and not merged as far as is known here",
    )
    long_ago = judge(facts(), Wish(older=DAY), Branch("plait/batch-old", tip, "old"))
    assert isinstance(long_ago, Item)
    assert long_ago.save


def test_the_pool_goes_when_no_batch_is_going() -> None:
    pooled = Worktree("w", Use.POOL, entry="e")
    assert told(pooled) == (False, "the next task of batch going may get it")
    quiet = Facts(NOW, {}, ())
    assert isinstance(judge(quiet, Wish(), pooled), Item)


def test_what_the_journal_does_not_know_yet_may_be_on_its_way() -> None:
    assert told(Folder("unknown", "f", age=60.0)) == (False, "it may be about to be submitted")
    assert told(Folder("unknown", "f", age=FRESH)) == (True, "nobody submitted it")
    assert told(Worktree("w", Use.TASK, "unknown", age=60.0))[0] is False
    assert told(Worktree("w", Use.TASK, "unknown", age=FRESH))[0] is True


def test_what_was_never_merged_is_forgotten_only_by_name_and_word() -> None:
    ref = Ref("refs/plait/attempts/old/a/write-1", "0" * 40, "old")
    assert told(ref) == (False, "it can be brought back; it goes with --forget")
    named = frozenset({"old"})
    assert told(ref, Wish(forget=named)) == (False, "it was never merged; it goes with --with-unmerged")
    assert told(ref, Wish(forget=named, unmerged=True))[0] is True
