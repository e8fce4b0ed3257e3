"""Files that are too large to be pushed: no result holds one, nor does the history that it would be pushed with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from plait.core.errors import Fault
from plait.git.worktrees.result_checks import UnfinishedError
from tests.support.task_worktree import TaskWorktree

MOST = 1000


@pytest.mark.parametrize("hooks", [False, True])
def test_a_file_that_is_too_large_is_no_result_and_is_saved(plot: TaskWorktree, *, hooks: bool) -> None:
    plot.write("big.bin", "x" * (MOST + 1))
    plot.write("small.txt", "small\n")
    before = plot.git("rev-parse", plot.branch)
    with pytest.raises(UnfinishedError, match=r"holds big\.bin \(1001 bytes\): larger than workspace") as caught:
        plot.capture(largest=MOST, hooks=hooks)
    assert caught.value.fault is Fault.AGENT
    ((ref, commit),) = plot.read_saved_refs().items()
    assert ref in caught.value.hint
    assert {"big.bin", "small.txt"} <= plot.files(commit).keys()
    assert plot.git("rev-parse", plot.branch) == before
    (plot.path / "big.bin").unlink()
    assert plot.capture(largest=MOST, hooks=hooks).files == ("small.txt",)


def test_one_that_is_just_as_large_as_it_may_be_is_taken(plot: TaskWorktree) -> None:
    plot.write("big.bin", "x" * MOST)
    assert plot.capture(largest=MOST).files == ("big.bin",)


def test_one_that_was_there_before_is_nobody_s_fault(plot: TaskWorktree) -> None:
    later = replace(plot, base=plot.commit("big.bin", "x" * (MOST + 1)))
    later.write("small.txt", "small\n")
    assert later.capture(largest=MOST).files == ("small.txt",)


def test_one_that_is_only_moved_copied_or_made_a_program_is_nothing_new(plot: TaskWorktree) -> None:
    for name in ("moved", "program", "copied"):
        plot.write(name, name * MOST)
    plot.git("add", "-A")
    plot.git("commit", "-q", "-m", "before")
    later = replace(plot, base=plot.git("rev-parse", "HEAD"))
    (plot.path / "moved").rename(plot.path / "elsewhere")
    (plot.path / "program").chmod(0o755)
    later.write("copy", "copied" * MOST)
    assert later.capture(largest=MOST).files == ("copy", "elsewhere", "moved", "program")


def test_without_a_limit_any_is_taken(plot: TaskWorktree) -> None:
    plot.write("big.bin", "x" * (MOST + 1))
    assert plot.capture(largest=0).files == ("big.bin",)


def test_what_a_filter_makes_small_is_small(plot: TaskWorktree) -> None:
    plot.git("config", "filter.short.clean", "head -c 10")
    plot.git("config", "filter.short.smudge", "cat")
    plot.write(".gitattributes", "*.bin filter=short\n")
    plot.write("big.bin", "x" * (MOST + 1))
    assert plot.capture(largest=MOST).files == (".gitattributes", "big.bin")


@pytest.mark.parametrize("hooks", [False, True])
def test_history_that_would_carry_it_is_left_behind_and_saved(plot: TaskWorktree, *, hooks: bool) -> None:
    plot.commit("small.txt", "small\n")
    own = plot.commit("big.bin", "x" * (MOST + 1))
    plot.git("rm", "-q", "big.bin")
    plot.git("commit", "-q", "-m", "no more")
    tip = plot.capture(largest=MOST, hooks=hooks).tip
    assert plot.git("rev-list", f"{plot.base}..{tip}").split() == [tip]
    assert plot.files(tip)["small.txt"] == "small"
    assert plot.is_saved(own)
    assert plot.capture(largest=MOST, hooks=hooks).tip == tip


@pytest.mark.parametrize("hooks", [False, True])
def test_a_merge_that_would_carry_it_becomes_one_commit_and_what_was_merged_is_saved(
    plot: TaskWorktree, *, hooks: bool
) -> None:
    plot.git("checkout", "-q", "--detach")
    plot.commit("big.bin", "x" * (MOST + 1))
    plot.git("rm", "-q", "big.bin")
    plot.git("commit", "-q", "-m", "no more")
    side = plot.commit("side.txt", "side\n")
    plot.git("checkout", "-q", plot.branch)
    plot.commit("small.txt", "small\n")
    plot.git("merge", "-q", "--no-commit", "--no-ff", side)
    tip = plot.capture(largest=MOST, hooks=hooks).tip
    assert plot.git("rev-list", f"{plot.base}..{tip}").split() == [tip]
    assert {"side.txt", "small.txt"} <= plot.files(tip).keys()
    assert side in plot.read_saved_refs().values()


def test_nothing_is_fetched_to_see_how_large_it_is(plot: TaskWorktree, tmp_path: Path) -> None:
    host = tmp_path / "host"
    plot.git("clone", "-q", str(plot.main), str(host))
    plot.git("config", "uploadpack.allowFilter", "true", at=host)
    for content in ("x" * (MOST + 1), "small\n"):
        plot.write("big.bin", content, at=host)
        plot.git("add", "-A", at=host)
        plot.git("-c", "user.name=H", "-c", "user.email=h@example.org", "commit", "-q", "-m", "hosted", at=host)
    for key, value in (("url", host.as_uri()), ("promisor", "true"), ("partialCloneFilter", "blob:none")):
        plot.git("config", f"remote.host.{key}", value)
    plot.git("fetch", "-q", "host", "HEAD")
    plot.git("merge", "-q", "FETCH_HEAD")
    host.rename(tmp_path / "gone")
    assert plot.capture(largest=MOST).tip == plot.git("rev-parse", "HEAD")


def test_history_without_one_stays(plot: TaskWorktree) -> None:
    own = plot.commit("a\f~b", "small\n")
    assert plot.capture(largest=MOST).tip == own


def test_links_and_names_of_all_kinds_are_looked_at(plot: TaskWorktree) -> None:
    (plot.path / "link").symlink_to("x" * 200)
    plot.write("a b\n\"c'\té.bin", "x" * 200)
    with pytest.raises(UnfinishedError, match=r"é\.bin") as caught:
        plot.capture(largest=100)
    assert "link" not in caught.value.message
