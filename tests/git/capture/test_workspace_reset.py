"""After a check, the workspace is as it was captured."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from plait.git.worktrees.metadata import SetupMetadata
from tests.support.task_worktree import TaskWorktree


@pytest.fixture
def worktree(tmp_path: Path) -> TaskWorktree:
    return TaskWorktree.create(
        tmp_path, {"a.txt": "a\n", "b.txt": "b\n", "d/c.txt": "c\n", ".gitignore": "build/\n*.log\n"}
    )


@pytest.fixture
def tip(worktree: TaskWorktree) -> str:
    worktree.write("a.txt", "made\n")
    return worktree.capture().tip


def is_back(worktree: TaskWorktree, tip: str) -> bool:
    return worktree.is_clean() and worktree.git("rev-parse", "HEAD", worktree.branch).split() == [tip, tip]


def test_ignored_files_survive_a_reset(worktree: TaskWorktree, tip: str) -> None:
    worktree.write("build/out", "x\n")
    worktree.put_back(tip)
    assert is_back(worktree, tip)
    assert (worktree.path / "build/out").exists()
    assert worktree.read_saved_refs() == {}


def test_changes_of_a_check_are_saved_and_reverted(worktree: TaskWorktree, tip: str) -> None:
    worktree.write("a.txt", "formatted\n")
    worktree.write("report/r.xml", "x\n")
    (worktree.path / "b.txt").unlink()
    (worktree.path / "empty").mkdir()
    worktree.put_back(tip)
    assert is_back(worktree, tip)
    assert (worktree.path / "a.txt").read_text() == "made\n"
    assert not (worktree.path / "report").exists()
    assert not (worktree.path / "empty").exists()
    (commit,) = worktree.read_saved_refs().values()
    assert worktree.files(commit)["a.txt"] == "formatted"
    assert worktree.files(commit)["report/r.xml"] == "x"
    worktree.put_back(tip)
    assert len(worktree.read_saved_refs()) == 1


def test_commits_of_a_check_are_saved_and_reverted(worktree: TaskWorktree, tip: str) -> None:
    own = worktree.commit("made-by-check.txt", "x\n")
    worktree.put_back(tip)
    assert is_back(worktree, tip)
    assert worktree.is_saved(own)


def test_a_reset_returns_to_the_tasks_branch(worktree: TaskWorktree, tip: str) -> None:
    worktree.git("checkout", "-q", "--detach", worktree.base)
    worktree.put_back(tip)
    assert is_back(worktree, tip)
    assert (worktree.path / "a.txt").read_text() == "made\n"


def test_a_reset_restores_the_index(worktree: TaskWorktree, tip: str) -> None:
    worktree.git("rm", "-q", "--cached", "b.txt")
    worktree.git("update-index", "--assume-unchanged", "a.txt")
    worktree.write("a.txt", "hidden\n")
    (worktree.gitdir / "index.lock").touch()
    worktree.put_back(tip)
    assert is_back(worktree, tip)
    assert (worktree.path / "a.txt").read_text() == "made\n"


def test_a_reset_ends_an_unfinished_merge(worktree: TaskWorktree, tip: str) -> None:
    worktree.git("checkout", "-q", "--detach", worktree.base)
    other = worktree.commit("a.txt", "other\n")
    worktree.git("checkout", "-q", worktree.branch)
    worktree.git("merge", other, fails=True)
    worktree.put_back(tip)
    assert is_back(worktree, tip)
    assert not (worktree.gitdir / "MERGE_HEAD").exists()


def test_files_made_by_setup_survive_a_reset(worktree: TaskWorktree, tip: str) -> None:
    ours = ["modules", "odd [name]*", "conf/local.ini"]
    (worktree.gitdir / "plait-outfit").write_text(json.dumps(asdict(SetupMetadata("k", tuple(ours)))))
    for name in ("modules/x", "odd [name]*", "conf/local.ini"):
        worktree.write(name, "ours\n")
    worktree.write("conf/report.txt", "x\n")
    worktree.put_back(tip)
    assert [(worktree.path / name).exists() for name in ("modules/x", "odd [name]*", "conf/local.ini")] == [True] * 3
    assert not (worktree.path / "conf/report.txt").exists()


def test_a_repository_made_by_a_check_is_removed(worktree: TaskWorktree, tip: str) -> None:
    (worktree.path / "clone").mkdir()
    worktree.git("init", "-q", at=worktree.path / "clone")
    worktree.write("clone/x.txt", "x\n")
    worktree.put_back(tip)
    assert is_back(worktree, tip)
    assert not (worktree.path / "clone").exists()
    (commit,) = worktree.read_saved_refs().values()
    assert worktree.files(commit)["clone/x.txt"] == "x"


@pytest.mark.parametrize("setting", [True, False])
def test_a_reset_keeps_a_checkout_sparse(tmp_path: Path, *, setting: bool) -> None:
    worktree = TaskWorktree.create(tmp_path, {"a.txt": "a\n", "in/b.txt": "b\n", "out/c.txt": "c\n"})
    worktree.git("sparse-checkout", "set", "--cone", "in") if setting else worktree.sparse("in")
    worktree.write("out/new.txt", "made\n")
    tip = worktree.capture().tip
    worktree.write("a.txt", "formatted\n")
    worktree.write("out/c.txt", "formatted\n")
    worktree.put_back(tip)
    assert is_back(worktree, tip)
    assert (worktree.path / "a.txt").read_text() == "a\n"
    assert not (worktree.path / "out/c.txt").exists()
    assert worktree.capture().tip == tip


def test_a_reset_restores_a_submodules_commit(tmp_path: Path) -> None:
    worktree = TaskWorktree.create(tmp_path / "r")
    other = TaskWorktree.create(tmp_path / "other")
    worktree.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.main), "sub")
    tip = worktree.capture().tip
    worktree.git("checkout", "-q", "--orphan", "x", at=worktree.path / "sub")
    worktree.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "moved", at=worktree.path / "sub")
    worktree.put_back(tip)
    assert is_back(worktree, tip)


def test_a_reset_removes_what_a_check_left_in_a_submodule(tmp_path: Path) -> None:
    worktree = TaskWorktree.create(tmp_path / "r")
    other = TaskWorktree.create(tmp_path / "other", {"a.txt": "a\n"})
    worktree.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.main), "sub")
    tip = worktree.capture().tip
    worktree.write("sub/a.txt", "formatted\n")
    worktree.write("sub/cache/report.txt", "r\n")
    worktree.put_back(tip)
    assert (worktree.path / "sub/a.txt").read_text() == "a\n"
    assert not (worktree.path / "sub/cache").exists()
    assert worktree.capture().tip == tip
