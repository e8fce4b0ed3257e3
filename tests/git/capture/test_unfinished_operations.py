"""Merges, rebases, cherry-picks and bisections that an agent left half done."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from plait.core.errors import Fault
from plait.git.worktrees.agent_worktree import open_worktree
from plait.git.worktrees.result_checks import UnfinishedError, check_finished
from plait.git.worktrees.tree_snapshot import copy_index
from tests.support.task_worktree import TaskWorktree


@pytest.fixture
def fork(worktree: TaskWorktree) -> TaskWorktree:
    """Two branches with other versions of a.txt, and a file of their own each."""
    worktree.git("switch", "-q", "-c", "theirs")
    worktree.commit("theirs.txt", "t\n")
    worktree.commit("a.txt", "theirs\n")
    worktree.git("switch", "-q", worktree.branch)
    worktree.commit("ours.txt", "o\n")
    worktree.commit("a.txt", "ours\n")
    return worktree


def under_way(worktree: TaskWorktree) -> list[str]:
    return sorted(
        name
        for name in ("MERGE_HEAD", "CHERRY_PICK_HEAD", "rebase-merge", "BISECT_LOG")
        if (worktree.gitdir / name).exists()
    )


BEGIN = {
    "merge": ("merge", "theirs"),
    "rebase": ("rebase", "theirs"),
    "cherry-pick": ("cherry-pick", "theirs"),
}


@pytest.mark.parametrize("what", BEGIN)
def test_unresolved_conflicts_are_refused(fork: TaskWorktree, what: str) -> None:
    fork.git(*BEGIN[what], fails=True)
    before = (fork.git("status", "--porcelain=v2"), under_way(fork), (fork.gitdir / "index").read_bytes())
    ours = fork.git("rev-parse", fork.branch)
    with pytest.raises(UnfinishedError, match=rf"left a {what} unfinished, with conflicts in a\.txt") as caught:
        fork.capture()
    assert caught.value.fault is Fault.AGENT
    assert (
        fork.git("status", "--porcelain=v2"),
        under_way(fork),
        (fork.gitdir / "index").read_bytes(),
    ) == before
    ((ref, commit),) = fork.read_saved_refs().items()
    assert ref in caught.value.hint
    assert "<<<<<<<" in fork.show(commit, "a.txt")
    assert fork.git("rev-parse", fork.branch) == ours
    with pytest.raises(UnfinishedError):
        fork.capture()
    assert list(fork.read_saved_refs()) == [ref]


def test_a_file_of_any_size_in_the_place_of_one_in_conflict_is_not_read(fork: TaskWorktree, tmp_path: Path) -> None:
    fork.git("merge", "theirs", fails=True)
    os.truncate(fork.path / "a.txt", 1 << 40)
    worktree = open_worktree(fork.repository, fork.path, fork.branch)
    assert check_finished(worktree, copy_index(worktree, tmp_path, fork.base), fork.base) is None


@pytest.mark.parametrize("staged", [True, False])
def test_a_resolved_merge_is_committed_with_both_parents(fork: TaskWorktree, *, staged: bool) -> None:
    ours = fork.git("rev-parse", "HEAD")
    fork.git("merge", "theirs", fails=True)
    fork.write("a.txt", "both\n")
    if staged:
        fork.git("add", "a.txt")
    captured = fork.capture()
    assert fork.git("rev-parse", f"{captured.tip}^@").split() == [ours, fork.git("rev-parse", "theirs")]
    assert fork.files(captured.tip)["a.txt"] == "both"
    assert captured.files == ("a.txt", "ours.txt", "theirs.txt")
    assert under_way(fork) == []
    assert fork.is_clean()
    assert fork.capture() == captured


def test_a_resolved_merge_captured_twice_gives_the_same_commit(fork: TaskWorktree) -> None:
    fork.git("merge", "theirs", fails=True)
    records = {name: (fork.gitdir / name).read_bytes() for name in ("MERGE_HEAD", "MERGE_MSG", "index")}
    fork.write("a.txt", "both\n")
    captured = fork.capture()
    for name, content in records.items():
        (fork.gitdir / name).write_bytes(content)
    assert fork.capture() == captured
    assert fork.is_clean()


def test_a_stopped_rebase_is_captured_from_its_files_and_its_commits_are_saved(fork: TaskWorktree) -> None:
    ours = fork.git("rev-parse", "HEAD")
    fork.git("rebase", "theirs", fails=True)
    fork.write("a.txt", "both\n")
    captured = fork.capture()
    assert fork.files(captured.tip)["a.txt"] == "both"
    assert fork.is_saved(ours)
    assert under_way(fork) == []
    assert fork.git("symbolic-ref", "--short", "HEAD") == fork.branch
    assert fork.is_clean()


def test_the_autostash_of_a_rebase_is_saved(fork: TaskWorktree) -> None:
    fork.write("b.txt", "not committed\n")
    fork.git("rebase", "--autostash", "theirs", fails=True)
    assert (fork.path / "b.txt").read_text() == "b\n"
    stash = (fork.gitdir / "rebase-merge" / "autostash").read_text().strip()
    fork.write("a.txt", "both\n")
    fork.capture()
    assert fork.is_saved(stash)


def test_a_resolved_cherry_pick_is_captured(fork: TaskWorktree) -> None:
    fork.git("cherry-pick", "theirs", fails=True)
    fork.write("a.txt", "both\n")
    captured = fork.capture()
    assert fork.files(captured.tip)["a.txt"] == "both"
    assert under_way(fork) == []


def test_a_bisection_is_ended(fork: TaskWorktree) -> None:
    fork.git("bisect", "start", "HEAD", fork.base)
    fork.write("found.txt", "it\n")
    captured = fork.capture()
    assert fork.files(captured.tip)["found.txt"] == "it"
    assert under_way(fork) == []
    assert fork.git("for-each-ref", "refs/bisect") == ""


@pytest.mark.parametrize("choice", ["untouched", "deleted", "edited"])
def test_a_file_deleted_on_one_side_must_be_resolved(fork: TaskWorktree, choice: str) -> None:
    fork.git("rm", "-q", "b.txt")
    fork.git("commit", "-q", "-m", "no b")
    fork.git("switch", "-q", "theirs")
    fork.git("reset", "-q", "--hard", fork.base)
    fork.commit("b.txt", "theirs\n")
    fork.git("switch", "-q", fork.branch)
    fork.git("merge", "theirs", fails=True)
    if choice == "untouched":
        with pytest.raises(UnfinishedError, match=r"b\.txt"):
            fork.capture()
        return
    if choice == "deleted":
        (fork.path / "b.txt").unlink()
    else:
        fork.write("b.txt", "something else\n")
    assert ("b.txt" in fork.files(fork.capture().tip)) is (choice == "edited")


def test_a_binary_conflict_must_be_resolved(tmp_path: Path) -> None:
    worktree = TaskWorktree.create(tmp_path, {"x.bin": b"\0base"})
    worktree.git("switch", "-q", "-c", "theirs")
    worktree.write("x.bin", b"\0theirs")
    worktree.git("commit", "-q", "-a", "-m", "theirs")
    worktree.git("switch", "-q", worktree.branch)
    worktree.write("x.bin", b"\0ours")
    worktree.git("commit", "-q", "-a", "-m", "ours")
    worktree.git("merge", "theirs", fails=True)
    with pytest.raises(UnfinishedError):
        worktree.capture()
    worktree.git("checkout", "--theirs", "x.bin")
    worktree.git("add", "x.bin")
    assert worktree.show(worktree.capture().tip, "x.bin") == "\0theirs"


def test_conflict_markers_in_a_file_without_conflict_are_text(worktree: TaskWorktree) -> None:
    worktree.write("a.txt", "<<<<<<< how a conflict looks\n=======\n>>>>>>> it\n")
    assert worktree.capture().files == ("a.txt",)
