"""Files that are too large to be pushed: no result holds one, nor does the history that it would be pushed with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from plait.core.errors import Fault, WorldError
from plait.git.worktrees.result_checks import UnfinishedError
from tests.support.task_worktree import TaskWorktree

MOST = 1000


@pytest.mark.parametrize("hooks", [False, True])
def test_a_file_over_the_limit_is_refused_and_saved(worktree: TaskWorktree, *, hooks: bool) -> None:
    worktree.write("big.bin", "x" * (MOST + 1))
    worktree.write("small.txt", "small\n")
    before = worktree.git("rev-parse", worktree.branch)
    with pytest.raises(UnfinishedError, match=r"contains big\.bin \(1001 bytes\): larger than workspace") as caught:
        worktree.capture(largest=MOST, hooks=hooks)
    assert caught.value.fault is Fault.AGENT
    ((ref, commit),) = worktree.read_saved_refs().items()
    assert ref in caught.value.hint
    assert {"big.bin", "small.txt"} <= worktree.files(commit).keys()
    assert worktree.git("rev-parse", worktree.branch) == before
    (worktree.path / "big.bin").unlink()
    assert worktree.capture(largest=MOST, hooks=hooks).files == ("small.txt",)


def test_a_file_at_the_limit_is_captured(worktree: TaskWorktree) -> None:
    worktree.write("big.bin", "x" * MOST)
    assert worktree.capture(largest=MOST).files == ("big.bin",)


def test_a_file_of_holes_that_no_disk_has_room_for_is_not_read(worktree: TaskWorktree) -> None:
    worktree.write("small.txt", "small\n")
    with (worktree.path / "holes.bin").open("wb") as file:
        file.truncate(8 << 40)
    for job in (worktree.capture, worktree.save):
        with pytest.raises(WorldError, match=r"git can't hold holes\.bin: it has 8,388,608 MiB") as caught:
            job()
        assert str(worktree.path) in caught.value.hint
    (worktree.path / "holes.bin").unlink()
    assert worktree.capture().files == ("small.txt",)


def test_a_large_file_of_the_base_is_accepted(worktree: TaskWorktree) -> None:
    later = replace(worktree, base=worktree.commit("big.bin", "x" * (MOST + 1)))
    later.write("small.txt", "small\n")
    assert later.capture(largest=MOST).files == ("small.txt",)


def test_a_large_file_that_is_moved_copied_or_made_executable_is_accepted(worktree: TaskWorktree) -> None:
    for name in ("moved", "program", "copied"):
        worktree.write(name, name * MOST)
    worktree.git("add", "-A")
    worktree.git("commit", "-q", "-m", "before")
    later = replace(worktree, base=worktree.git("rev-parse", "HEAD"))
    (worktree.path / "moved").rename(worktree.path / "elsewhere")
    (worktree.path / "program").chmod(0o755)
    later.write("copy", "copied" * MOST)
    assert later.capture(largest=MOST).files == ("copy", "elsewhere", "moved", "program")


def test_without_a_limit_any_file_is_captured(worktree: TaskWorktree) -> None:
    worktree.write("big.bin", "x" * (MOST + 1))
    assert worktree.capture(largest=0).files == ("big.bin",)


def test_the_size_after_filters_counts(worktree: TaskWorktree) -> None:
    worktree.git("config", "filter.short.clean", "head -c 10")
    worktree.git("config", "filter.short.smudge", "cat")
    worktree.write(".gitattributes", "*.bin filter=short\n")
    worktree.write("big.bin", "x" * (MOST + 1))
    assert worktree.capture(largest=MOST).files == (".gitattributes", "big.bin")


@pytest.mark.parametrize("hooks", [False, True])
def test_history_with_a_large_file_is_left_out_and_saved(worktree: TaskWorktree, *, hooks: bool) -> None:
    worktree.commit("small.txt", "small\n")
    own = worktree.commit("big.bin", "x" * (MOST + 1))
    worktree.git("rm", "-q", "big.bin")
    worktree.git("commit", "-q", "-m", "no more")
    tip = worktree.capture(largest=MOST, hooks=hooks).tip
    assert worktree.git("rev-list", f"{worktree.base}..{tip}").split() == [tip]
    assert worktree.files(tip)["small.txt"] == "small"
    assert worktree.is_saved(own)
    assert worktree.capture(largest=MOST, hooks=hooks).tip == tip


@pytest.mark.parametrize("hooks", [False, True])
def test_a_merge_with_a_large_file_becomes_one_commit_and_the_merged_side_is_saved(
    worktree: TaskWorktree, *, hooks: bool
) -> None:
    worktree.git("checkout", "-q", "--detach")
    worktree.commit("big.bin", "x" * (MOST + 1))
    worktree.git("rm", "-q", "big.bin")
    worktree.git("commit", "-q", "-m", "no more")
    side = worktree.commit("side.txt", "side\n")
    worktree.git("checkout", "-q", worktree.branch)
    worktree.commit("small.txt", "small\n")
    worktree.git("merge", "-q", "--no-commit", "--no-ff", side)
    tip = worktree.capture(largest=MOST, hooks=hooks).tip
    assert worktree.git("rev-list", f"{worktree.base}..{tip}").split() == [tip]
    assert {"side.txt", "small.txt"} <= worktree.files(tip).keys()
    assert side in worktree.read_saved_refs().values()


def test_sizes_are_checked_without_fetching(worktree: TaskWorktree, tmp_path: Path) -> None:
    host = tmp_path / "host"
    worktree.git("clone", "-q", str(worktree.main), str(host))
    worktree.git("config", "uploadpack.allowFilter", "true", at=host)
    for content in ("x" * (MOST + 1), "small\n"):
        worktree.write("big.bin", content, at=host)
        worktree.git("add", "-A", at=host)
        worktree.git("-c", "user.name=H", "-c", "user.email=h@example.org", "commit", "-q", "-m", "hosted", at=host)
    for key, value in (("url", host.as_uri()), ("promisor", "true"), ("partialCloneFilter", "blob:none")):
        worktree.git("config", f"remote.host.{key}", value)
    worktree.git("fetch", "-q", "host", "HEAD")
    worktree.git("merge", "-q", "FETCH_HEAD")
    host.rename(tmp_path / "gone")
    assert worktree.capture(largest=MOST).tip == worktree.git("rev-parse", "HEAD")


def test_history_without_large_files_stays(worktree: TaskWorktree) -> None:
    own = worktree.commit("a\f~b", "small\n")
    assert worktree.capture(largest=MOST).tip == own


def test_symlinks_and_unusual_names_are_checked(worktree: TaskWorktree) -> None:
    (worktree.path / "link").symlink_to("x" * 200)
    worktree.write("a b\n\"c'\té.bin", "x" * 200)
    with pytest.raises(UnfinishedError, match=r"é\.bin") as caught:
        worktree.capture(largest=100)
    assert "link" not in caught.value.message
