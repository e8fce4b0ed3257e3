"""What was taken out of a line does not come back with the branches that grew from it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from plait.core.decisions import Change
from plait.core.errors import WorldError
from plait.core.reports import MergeConflicted, MergeDone, MergedTask, RebuildConflict
from plait.git import refs
from plait.git.interfaces import MergeMessage
from tests.support.batch_branch import MergedBranch
from tests.support.git_repository import GitRepository

Page = Callable[..., str]


def _ancestor(repository: GitRepository, one: str, of: str) -> bool:
    return repository.run("merge-base", "--is-ancestor", one, of).returncode == 0


@pytest.fixture
def grown(line: MergedBranch, page: Page) -> MergedBranch:
    """`bad`, and `next`, which grew from the line with it; `late` grew there too and is not merged yet."""
    line.merge("bad", line.repository.commit({"page.txt": page((1, "bad")), "bad.txt": "x\n"}, line.base))
    grown = line.head
    tip = line.repository.commit({"page.txt": page((1, "bad"), (10, "next"))}, grown)
    line.merge("next", tip, grown)
    return line


def test_a_change_based_on_a_dropped_one_is_merged_without_it(grown: MergedBranch, page: Page) -> None:
    old = grown.head
    done = grown.rebuild(grown.make_rebuild("bad"))
    assert done.line == (MergedTask("next", grown.read_head),)
    assert done.clashes == ()
    assert grown.repository.files(grown.read_head) == {"page.txt": page((10, "next"))}
    assert grown.repository.git("rev-parse", refs.pre_rebuild_ref("7f3a", 1)) == old


def test_dropped_commits_are_not_in_the_history(grown: MergedBranch) -> None:
    bad, following = grown.changes
    grown.rebuild(grown.make_rebuild("bad"))
    assert not _ancestor(grown.repository, bad.tip, grown.read_head)
    first, second = grown.repository.git("show", "-s", "--format=%P", grown.read_head).split()
    assert first == grown.base
    assert grown.repository.git("show", "-s", "--format=%P", second) == grown.base
    format_option = "--format=%an %at %B"
    assert grown.repository.git("show", "-s", format_option, second) == grown.repository.git(
        "show", "-s", format_option, following.tip
    )


def test_a_running_task_based_on_a_dropped_one_merges_only_its_own_change(grown: MergedBranch, page: Page) -> None:
    base = grown.head
    late = grown.repository.commit({"page.txt": page((1, "bad"), (10, "next"), (18, "late"))}, base)
    grown.rebuild(grown.make_rebuild("bad"))
    assert isinstance(grown.merge("late", late, base), MergeDone)
    assert grown.repository.files(grown.read_head) == {"page.txt": page((10, "next"), (18, "late"))}


def test_a_dropped_task_can_be_retried_on_its_old_branch(grown: MergedBranch, page: Page) -> None:
    first = grown.changes[0]
    grown.rebuild(grown.make_rebuild("bad"))
    again = grown.repository.commit({"bad.txt": "good\n"}, first.tip)
    assert isinstance(grown.merge("bad", again, first.base), MergeDone)
    assert grown.repository.files(grown.read_head) == {
        "page.txt": page((1, "bad"), (10, "next")),
        "bad.txt": "good\n",
    }


def test_a_change_that_depends_on_a_dropped_one_conflicts_and_the_others_stay(line: MergedBranch, page: Page) -> None:
    line.merge("bad", line.repository.commit({"page.txt": page((1, "bad"))}, line.base))
    base = line.head
    line.merge("on it", line.repository.commit({"page.txt": page((1, "bad, and more"))}, base), base)
    line.merge("other", line.repository.commit({"other.txt": "x\n"}, line.base))
    decision = line.make_rebuild("bad")
    done = line.rebuild(decision)
    assert done.clashes == (RebuildConflict("on it", ("page.txt",)),)
    assert [merged.task for merged in done.line] == ["other"]
    assert line.repository.files(line.read_head) == {"page.txt": page(), "other.txt": "x\n"}
    assert line.rebuild(decision) == done


def test_merges_before_the_dropped_one_stay_the_same_commits(line: MergedBranch) -> None:
    tips = [line.repository.commit({f"{n}.txt": "x\n"}, line.base) for n in range(4)]
    made = [line.merge(str(n), tip) for n, tip in enumerate(tips)]
    done = line.integrator.rebuild(line.make_rebuild("2"), line.branch, line.base, {}, line.blending)
    assert [merged.commit for merged in done.line[:2]] == [
        merge.commit for merge in made[:2] if isinstance(merge, MergeDone)
    ]
    assert set(line.repository.files(line.read_head)) == {"page.txt", "0.txt", "1.txt", "3.txt"}
    assert line.repository.git("rev-parse", f"{line.read_head}^2") == tips[3]


def test_a_rebuild_without_changes_gives_the_base(grown: MergedBranch) -> None:
    done = grown.rebuild(grown.make_rebuild("bad", "next"))
    assert done.line == ()
    assert grown.read_head == grown.base


def test_rebuilding_twice_gives_the_same_branch(grown: MergedBranch) -> None:
    decision = grown.make_rebuild("bad")
    old = grown.head
    done = grown.rebuild(decision)
    assert grown.rebuild(decision) == done
    assert grown.repository.git("rev-parse", refs.pre_rebuild_ref("7f3a", 1)) == old


def test_a_crash_between_saving_and_moving_does_not_change_the_result(grown: MergedBranch) -> None:
    decision, old = grown.make_rebuild("bad"), grown.head
    grown.repository.git("update-ref", refs.pre_rebuild_ref("7f3a", 1), old)
    done = grown.rebuild(decision)
    assert grown.read_head == done.line[-1].commit != old


def test_the_branch_before_each_rebuild_is_saved(grown: MergedBranch) -> None:
    first = grown.head
    grown.rebuild(grown.make_rebuild("bad"))
    second = grown.head
    grown.rebuild(grown.make_rebuild("next"))
    kept = [grown.repository.git("rev-parse", refs.pre_rebuild_ref("7f3a", n)) for n in (1, 2)]
    assert kept == [first, second]


def test_a_branch_with_foreign_commits_is_not_rebuilt(grown: MergedBranch) -> None:
    other_commit = grown.repository.commit({"mine.txt": "x\n"}, grown.head)
    grown.repository.git("branch", "-f", grown.branch, other_commit)
    with pytest.raises(WorldError, match="did not make"):
        grown.rebuild(grown.make_rebuild("bad"))
    assert grown.read_head == other_commit


def test_a_deleted_branch_is_rebuilt(grown: MergedBranch, page: Page) -> None:
    grown.repository.git("branch", "-D", grown.branch)
    grown.rebuild(grown.make_rebuild("bad"))
    assert grown.repository.files(grown.read_head) == {"page.txt": page((10, "next"))}


def test_a_rebuild_keeps_the_merge_messages(grown: MergedBranch) -> None:
    messages = {"next": MergeMessage("All the words", edit_files=lambda _: {"status.md": b"done\n"})}
    grown.integrator.rebuild(grown.make_rebuild("bad"), grown.branch, grown.base, messages, grown.blending)
    assert grown.repository.git("show", "-s", "--format=%s", grown.read_head) == "All the words"
    assert grown.repository.files(grown.read_head)["status.md"] == "done\n"


def test_a_task_that_rewrote_its_base_merges_only_its_own_change(line: MergedBranch, page: Page) -> None:
    line.merge("one", line.repository.commit({"page.txt": page((1, "one"))}, line.base))
    base = line.head
    amended = line.repository.commit({"page.txt": page((1, "one, better"))}, line.base)
    orphan = line.repository.git("commit-tree", f"{amended}^{{tree}}", "-m", "new world")
    for tip in (amended, orphan):
        probe = MergedBranch(line.repository, base, f"b{tip[:4]}")
        assert isinstance(probe.merge("two", tip, base), MergeDone)
        assert line.repository.files(probe.read_head) == {"page.txt": page((1, "one, better"))}
        assert not _ancestor(line.repository, tip, probe.read_head)


def test_a_task_that_merged_the_batch_branch_itself_is_merged_with_its_history(line: MergedBranch, page: Page) -> None:
    own = line.repository.commit({"page.txt": page((18, "own"))}, line.base)
    line.merge("one", line.repository.commit({"page.txt": page((1, "one"))}, line.base))
    line.repository.git("checkout", "-q", "--detach", own)
    line.repository.git("merge", "-q", "-m", "catch up", line.head)
    tip = line.repository.git("rev-parse", "HEAD")
    line.merge("two", line.repository.commit({"page.txt": page((1, "one, later"))}, line.head), line.head)
    onto = line.head
    assert isinstance(line.merge("own", tip), MergeDone)
    assert line.repository.tree(line.read_head) == line.repository.merge_tree(onto, tip)
    assert line.repository.files(line.read_head) == {"page.txt": page((1, "one, later"), (18, "own"))}


def test_a_conflict_of_a_change_without_common_history_names_its_files(grown: MergedBranch, page: Page) -> None:
    base = grown.head
    late = grown.repository.commit({"bad.txt": "more of it\n"}, base)
    grown.rebuild(grown.make_rebuild("bad"))
    assert grown.merge("late", late, base) == MergeConflicted("7f3a", "late", 1, ("bad.txt",))
    assert grown.changes == [Change("next", grown.changes[0].base, grown.changes[0].tip)]
    assert page((10, "next")) == grown.repository.files(grown.read_head)["page.txt"]
