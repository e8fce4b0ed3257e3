"""What is read of a worktree while its sandboxed agent runs: never what a link leads to."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from plait.git.worktrees import live_copy
from plait.git.worktrees.capture import preview_commit, snapshot_workspace
from plait.git.worktrees.live_copy import copy_live_files
from plait.git.worktrees.sandbox_view import build_view
from plait.git.worktrees.worktree import Repository
from tests.support.task_worktree import TaskWorktree


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_text("secret\n")
    return tmp_path / "outside" / "secret.txt"


def test_files_are_copied_and_links_are_not_followed(tmp_path: Path, secret: Path) -> None:
    top, target = tmp_path / "top", tmp_path / "target"
    (top / "a").mkdir(parents=True)
    (top / "a" / "run.sh").write_text("run\n")
    (top / "a" / "run.sh").chmod(0o755)
    (top / "link").symlink_to(secret)
    (top / "way").symlink_to(secret.parent)
    os.mkfifo(top / "pipe")
    paths = ["a/run.sh", "link", "way/secret.txt", "pipe", "gone", "a"]
    assert copy_live_files(top, paths, target) == ["a/run.sh", "link", "way/secret.txt", "pipe", "gone"]
    assert (target / "a" / "run.sh").read_text() == "run\n"
    assert os.access(target / "a" / "run.sh", os.X_OK)
    assert (target / "link").readlink() == secret
    assert {path.name for path in target.iterdir()} == {"a", "link"}


def test_a_file_with_holes_takes_no_more_of_the_disk_than_it_did(tmp_path: Path) -> None:
    """A limit of what an agent may write doesn't count them."""
    top, target, megabyte = tmp_path / "top", tmp_path / "target", 1 << 20
    top.mkdir()
    pieces = {0: b"start", 20 * megabyte: b"x" * megabyte, 40 * megabyte - 3: b"end"}
    with (top / "file").open("wb") as file:
        for at, data in pieces.items():
            os.pwrite(file.fileno(), data, at)
    with (top / "empty").open("wb") as file:
        file.truncate(40 * megabyte)
    assert copy_live_files(top, ["file", "empty"], target) == ["file", "empty"]
    assert sum(path.stat().st_blocks * 512 for path in target.iterdir()) < 3 * megabyte
    for name in ("file", "empty"):
        assert (target / name).read_bytes() == (top / name).read_bytes()


def test_a_link_that_appears_after_a_look_is_not_followed(
    tmp_path: Path, secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top, target, look = tmp_path / "top", tmp_path / "target", os.stat
    top.mkdir()
    (top / "one.txt").write_text("1\n")

    def look_and_swap(name: str, *, dir_fd: int, follow_symlinks: bool) -> os.stat_result:
        found = look(name, dir_fd=dir_fd, follow_symlinks=follow_symlinks)
        (top / "one.txt").unlink()
        (top / "one.txt").symlink_to(secret)
        return found

    monkeypatch.setattr("plait.git.worktrees.live_copy.os.stat", look_and_swap)
    assert copy_live_files(top, ["one.txt"], target) == ["one.txt"]
    monkeypatch.undo()
    assert not target.exists()


@pytest.mark.parametrize("below", ["x/file", "x/new/file", "x/link"])
def test_nothing_is_written_through_a_link_that_was_copied(tmp_path: Path, secret: Path, below: str) -> None:
    """The agent exchanges the link for a folder in between."""
    top, target = tmp_path / "top", tmp_path / "target"
    (top / "folder" / "new").mkdir(parents=True)
    for name in ("file", "new/file"):
        (top / "folder" / name).write_text("hostile\n")
    (top / "folder" / "link").symlink_to(secret)
    (top / "x").symlink_to(secret.parent)

    def list_and_swap() -> Iterator[str]:
        yield "x"
        (top / "x").unlink()
        (top / "folder").rename(top / "x")
        yield below

    assert copy_live_files(top, list_and_swap(), target) == ["x", below]
    assert (target / "x").readlink() == secret.parent
    assert [path.name for path in secret.parent.iterdir()] == ["secret.txt"]


def test_git_reads_copies_while_a_sandboxed_agent_may_be_running(
    worktree: TaskWorktree, tmp_path: Path, secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git itself looks at a path and opens it then, so a link may be there when it does."""
    build_view(worktree.common, worktree.gitdir)
    worktree.write("a.txt", "changed\n")
    worktree.write("deep/new.txt", "new\n")

    def copy_and_swap(top: Path, paths: Iterable[str], target: Path) -> list[str]:
        found = copy_live_files(top, paths, target)
        for path in found:
            (top / path).unlink()
            (top / path).symlink_to(secret)
        return found

    monkeypatch.setattr(live_copy, "copy_live_files", copy_and_swap)
    git, tree = snapshot_workspace(Repository(worktree.common), worktree.path, worktree.base, tmp_path)
    assert (worktree.path / "a.txt").readlink() == secret
    assert git.text("show", f"{tree}:a.txt") == "changed"
    assert git.text("show", f"{tree}:deep/new.txt") == "new"
    assert git.run("diff-tree", "-r", "--name-only", "-z", worktree.base, tree).fields == ["a.txt", "deep/new.txt"]


def test_what_a_sandboxed_agent_changed_is_previewed(worktree: TaskWorktree) -> None:
    """Also its removed files, links and modes, and no submodule that it changed."""
    worktree.git("update-index", "--add", "--cacheinfo", f"160000,{worktree.base},inner")
    worktree.git("commit", "-qm", "submodule")
    base = worktree.git("rev-parse", "HEAD")
    build_view(worktree.common, worktree.gitdir)
    (worktree.path / "a.txt").unlink()
    (worktree.path / "link").symlink_to("nowhere")
    worktree.write("run.sh", "run\n")
    (worktree.path / "run.sh").chmod(0o755)
    subprocess.run(["git", "init", "-q", "inner"], cwd=worktree.path, check=True)
    tip = preview_commit(Repository(worktree.common), worktree.path, worktree.branch, base)
    assert tip is not None
    rows = worktree.git("diff-tree", "-r", "--no-renames", "--format=", base, tip).splitlines()
    assert [(row.split()[1], row.split()[-1]) for row in rows] == [
        ("000000", "a.txt"),
        ("120000", "link"),
        ("100755", "run.sh"),
    ]
