"""After a check, the workspace is as it was captured."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.task_worktree import TaskWorktree


@pytest.fixture
def plot(tmp_path: Path) -> TaskWorktree:
    return TaskWorktree.create(
        tmp_path, {"a.txt": "a\n", "b.txt": "b\n", "d/c.txt": "c\n", ".gitignore": "build/\n*.log\n"}
    )


@pytest.fixture
def tip(plot: TaskWorktree) -> str:
    plot.write("a.txt", "made\n")
    return plot.capture().tip


def is_back(plot: TaskWorktree, tip: str) -> bool:
    return plot.is_clean() and plot.git("rev-parse", "HEAD", plot.branch).split() == [tip, tip]


def test_a_check_that_left_only_what_is_ignored(plot: TaskWorktree, tip: str) -> None:
    plot.write("build/out", "x\n")
    plot.put_back(tip)
    assert is_back(plot, tip)
    assert (plot.path / "build/out").exists()
    assert plot.read_saved_refs() == {}


def test_what_it_changed_is_saved_and_put_back(plot: TaskWorktree, tip: str) -> None:
    plot.write("a.txt", "formatted\n")
    plot.write("report/r.xml", "x\n")
    (plot.path / "b.txt").unlink()
    (plot.path / "empty").mkdir()
    plot.put_back(tip)
    assert is_back(plot, tip)
    assert (plot.path / "a.txt").read_text() == "made\n"
    assert not (plot.path / "report").exists()
    assert not (plot.path / "empty").exists()
    (commit,) = plot.read_saved_refs().values()
    assert plot.files(commit)["a.txt"] == "formatted"
    assert plot.files(commit)["report/r.xml"] == "x"
    plot.put_back(tip)
    assert len(plot.read_saved_refs()) == 1


def test_what_it_committed_is_saved_and_put_back(plot: TaskWorktree, tip: str) -> None:
    own = plot.commit("made-by-check.txt", "x\n")
    plot.put_back(tip)
    assert is_back(plot, tip)
    assert plot.is_saved(own)


def test_it_went_elsewhere(plot: TaskWorktree, tip: str) -> None:
    plot.git("checkout", "-q", "--detach", plot.base)
    plot.put_back(tip)
    assert is_back(plot, tip)
    assert (plot.path / "a.txt").read_text() == "made\n"


def test_the_index_was_changed(plot: TaskWorktree, tip: str) -> None:
    plot.git("rm", "-q", "--cached", "b.txt")
    plot.git("update-index", "--assume-unchanged", "a.txt")
    plot.write("a.txt", "hidden\n")
    (plot.admin / "index.lock").touch()
    plot.put_back(tip)
    assert is_back(plot, tip)
    assert (plot.path / "a.txt").read_text() == "made\n"


def test_a_merge_was_begun(plot: TaskWorktree, tip: str) -> None:
    plot.git("checkout", "-q", "--detach", plot.base)
    other = plot.commit("a.txt", "other\n")
    plot.git("checkout", "-q", plot.branch)
    plot.git("merge", other, fails=True)
    plot.put_back(tip)
    assert is_back(plot, tip)
    assert not (plot.admin / "MERGE_HEAD").exists()


def test_what_outfitting_put_there_stays(plot: TaskWorktree, tip: str) -> None:
    ours = ["modules", "odd [name]*", "conf/local.ini"]
    (plot.admin / "plait-outfit").write_text(json.dumps({"key": "k", "ours": ours}))
    for name in ("modules/x", "odd [name]*", "conf/local.ini"):
        plot.write(name, "ours\n")
    plot.write("conf/report.txt", "x\n")
    plot.put_back(tip)
    assert [(plot.path / name).exists() for name in ("modules/x", "odd [name]*", "conf/local.ini")] == [True] * 3
    assert not (plot.path / "conf/report.txt").exists()


def test_a_repository_that_it_made_goes(plot: TaskWorktree, tip: str) -> None:
    (plot.path / "clone").mkdir()
    plot.git("init", "-q", at=plot.path / "clone")
    plot.write("clone/x.txt", "x\n")
    plot.put_back(tip)
    assert is_back(plot, tip)
    assert not (plot.path / "clone").exists()
    (commit,) = plot.read_saved_refs().values()
    assert plot.files(commit)["clone/x.txt"] == "x"


@pytest.mark.parametrize("setting", [True, False])
def test_what_a_sparse_checkout_leaves_out_stays_out(tmp_path: Path, *, setting: bool) -> None:
    plot = TaskWorktree.create(tmp_path, {"a.txt": "a\n", "in/b.txt": "b\n", "out/c.txt": "c\n"})
    plot.git("sparse-checkout", "set", "--cone", "in") if setting else plot.sparse("in")
    plot.write("out/new.txt", "made\n")
    tip = plot.capture().tip
    plot.write("a.txt", "formatted\n")
    plot.write("out/c.txt", "formatted\n")
    plot.put_back(tip)
    assert is_back(plot, tip)
    assert (plot.path / "a.txt").read_text() == "a\n"
    assert not (plot.path / "out/c.txt").exists()
    assert plot.capture().tip == tip


def test_a_submodule_is_where_the_tip_has_it(tmp_path: Path) -> None:
    plot = TaskWorktree.create(tmp_path / "r")
    other = TaskWorktree.create(tmp_path / "other")
    plot.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other.main), "sub")
    tip = plot.capture().tip
    plot.git("checkout", "-q", "--orphan", "x", at=plot.path / "sub")
    plot.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "moved", at=plot.path / "sub")
    plot.put_back(tip)
    assert is_back(plot, tip)
