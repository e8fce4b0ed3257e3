"""What gc plans: nothing that is in use, and nothing that would be lost."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, strategies as st

from plait.git.gc.removal_rules import (
    FRESH_SECONDS,
    STALE_LOCK_SECONDS,
    BranchItem,
    BrokenRefItem,
    GcBatch,
    GcFacts,
    GcItem,
    GcOptions,
    PathItem,
    PathKind,
    RefItem,
    Removal,
    WorktreeItem,
    WorktreeUse,
    decide,
    plan_gc,
)

NOW = 1_000_000.0
DAY = 86_400.0

_batches = st.sampled_from(["going", "fresh", "old", "unknown"])
_flags = st.booleans()
_ages = st.sampled_from([0.0, STALE_LOCK_SECONDS + 1, FRESH_SECONDS + 1, 30 * DAY])
KNOWN = {
    "going": GcBatch("going", is_over=False),
    "fresh": GcBatch("fresh", is_over=True, since=NOW - 60),
    "old": GcBatch("old", is_over=True, since=NOW - 20 * DAY),
}
_plain = st.builds(
    WorktreeItem,
    path=st.sampled_from(["w", "/checkout"]),
    use=st.sampled_from(WorktreeUse),
    batch=_batches,
    entry=st.sampled_from(["", "e"]),
    exists=_flags,
    unsaved=_flags,
    age=_ages,
)
# One reason to stay at a time: each must do by itself.
_reasons: list[dict[str, object]] = [
    {},
    {"locked": ""},
    {"locked": "away"},
    {"pids": (7,)},
    {"making": True},
    {"parent_missing": True},
]
_worktrees = st.builds(lambda tree, reason: replace(tree, **reason), _plain, st.sampled_from(_reasons))
_things: st.SearchStrategy[GcItem] = st.one_of(
    _worktrees,
    st.builds(PathItem, st.just(PathKind.TRASH), path=st.just("t")),
    st.builds(PathItem, st.just(PathKind.TRANSCRIPTS), batch=_batches, path=st.just("x")),
    st.builds(
        PathItem, st.just(PathKind.BATCH_FOLDER), path=st.just("f"), batch=_batches, has_transcripts=_flags, age=_ages
    ),
    st.builds(
        BranchItem,
        name=st.just("plait/x"),
        tip=st.just("0" * 40),
        batch=_batches,
        task=st.sampled_from(["", "a"]),
        merged=_flags,
        pushed=_flags,
        in_batch_branch=_flags,
        saved=_flags,
        checked_out_in=st.sampled_from(["", "/checkout"]),
    ),
    st.builds(RefItem, name=st.just("refs/plait/x"), tip=st.just("0" * 40), batch=_batches, elsewhere=_flags),
    st.builds(PathItem, st.just(PathKind.LOCK), path=st.just("l"), age=_ages, batch=_batches),
    st.builds(PathItem, st.just(PathKind.SETUPS), path=st.just("s"), age=_ages),
    st.builds(PathItem, st.just(PathKind.LOST_WORKSPACES), path=st.just("p"), repository=st.just("/gone")),
)
_wishes = st.builds(
    GcOptions,
    older=st.sampled_from([None, 14 * DAY]),
    forget=st.frozensets(_batches, max_size=2),
    unmerged=_flags,
    lost=_flags,
)


def facts(*things: GcItem) -> GcFacts:
    return GcFacts(NOW, KNOWN, things)


@given(st.lists(_things, max_size=20), _wishes)
def test_the_plan_never_contains_anything_in_use_or_unsaved(things: list[GcItem], options: GcOptions) -> None:
    planned = plan_gc(facts(*things), options)
    assert len(planned.removals) + len(planned.kept) == len(things)
    for item in planned.removals:
        _not_in_use(item)
        _not_lost(item, options)


def _not_in_use(item: Removal) -> None:
    thing = item.item
    assert getattr(thing, "batch", "") != "going"
    assert getattr(thing, "locked", None) is None
    assert not getattr(thing, "pids", ())
    assert not getattr(thing, "making", False)
    assert not getattr(thing, "parent_missing", False)
    assert not getattr(thing, "checked_out_in", "")
    if isinstance(thing, WorktreeItem):
        assert thing.use is not WorktreeUse.POOL  # a batch is going


def _not_lost(item: Removal, options: GcOptions) -> None:
    match item.item:
        case WorktreeItem() as tree:
            assert item.save or not tree.unsaved
        case BranchItem() as branch:
            shipped = branch.merged or branch.pushed
            named = branch.batch in options.forget
            by_name = named and options.unmerged
            assert item.save or shipped or (branch.saved and not named) or by_name
        case RefItem() as ref:
            assert ref.batch in options.forget
            assert ref.elsewhere or options.unmerged
        case BrokenRefItem():
            assert item.save
        case PathItem(kind=PathKind.TRANSCRIPTS) as printed:
            assert printed.batch in options.forget or (options.older is not None and printed.batch != "fresh")
        case PathItem(kind=PathKind.BATCH_FOLDER) as folder:
            assert folder.batch in options.forget or not folder.has_transcripts
        case PathItem(kind=PathKind.SETUPS):
            raise AssertionError("a batch is going")
        case PathItem(kind=PathKind.LOST_WORKSPACES):
            assert options.lost
        case PathItem():
            pass


@given(_things, _flags)
def test_batches_younger_than_older_are_kept(thing: GcItem, unmerged: bool) -> None:  # noqa: FBT001 - drawn
    options = GcOptions(older=14 * DAY, unmerged=unmerged)
    if getattr(thing, "batch", "") == "fresh" and getattr(thing, "use", None) is not WorktreeUse.POOL:
        assert not isinstance(decide(facts(thing), options, thing), Removal)


def decide_item(thing: GcItem, options: GcOptions = GcOptions()) -> tuple[bool, str]:  # noqa: B008 - frozen
    verdict = decide(facts(thing), options, thing)
    return isinstance(verdict, Removal), verdict.why


def test_a_merged_branch_of_a_finished_batch_is_removed_and_an_unmerged_one_kept() -> None:
    tip = "0" * 40
    assert decide_item(BranchItem("plait/task-old-a", tip, "old", "a", in_batch_branch=True)) == (
        True,
        "in the batch branch",
    )
    assert decide_item(BranchItem("plait/task-old-a", tip, "old", "a", saved=True)) == (False, "not merged")
    assert decide_item(BranchItem("plait/batch-old", tip, "old", merged=True)) == (True, "merged")
    assert decide_item(BranchItem("plait/batch-old", tip, "old", in_batch_branch=True, saved=True)) == (
        False,
        "not merged",
    )
    assert decide_item(BranchItem("plait/batch-old", tip, "old", pushed=True)) == (
        False,
        "pushed, but not merged as far as known here",
    )
    long_ago = decide(facts(), GcOptions(older=DAY), BranchItem("plait/batch-old", tip, "old"))
    assert isinstance(long_ago, Removal)
    assert long_ago.save


def test_the_pool_is_removed_when_no_batch_runs() -> None:
    pooled = WorktreeItem("w", WorktreeUse.POOL, entry="e")
    assert decide_item(pooled) == (False, "perhaps for the next task of batch going")
    quiet = GcFacts(NOW, {}, ())
    assert isinstance(decide(quiet, GcOptions(), pooled), Removal)


def test_fresh_items_of_an_unknown_batch_are_kept() -> None:
    assert decide_item(PathItem(PathKind.BATCH_FOLDER, "f", "unknown", age=60.0)) == (
        False,
        "perhaps being submitted",
    )
    assert decide_item(PathItem(PathKind.BATCH_FOLDER, "f", "unknown", age=FRESH_SECONDS)) == (
        True,
        "never submitted",
    )
    assert decide_item(WorktreeItem("w", WorktreeUse.TASK, "unknown", age=60.0))[0] is False
    assert decide_item(WorktreeItem("w", WorktreeUse.TASK, "unknown", age=FRESH_SECONDS))[0] is True


def test_unmerged_work_is_removed_only_with_forget_and_with_unmerged() -> None:
    ref = RefItem("refs/plait/attempts/old/a/write-1", "0" * 40, "old")
    assert decide_item(ref) == (False, "can be restored; remove with --forget")
    named = frozenset({"old"})
    assert decide_item(ref, GcOptions(forget=named)) == (False, "never merged; remove with --with-unmerged")
    assert decide_item(ref, GcOptions(forget=named, unmerged=True))[0] is True
