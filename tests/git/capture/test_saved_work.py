"""What no ref reaches is put where one does, and nothing else changes."""

from __future__ import annotations

import shutil

from tests.support.task_worktree import TaskWorktree


def state(plot: TaskWorktree) -> dict[str, object]:
    """Everything of the worktree that could be changed, but for the times at which its files were read."""
    files = {
        str(file.relative_to(plot.path)): (
            file.lstat().st_mtime_ns,
            str(file.readlink()) if file.is_symlink() else file.read_bytes(),
        )
        for file in plot.path.rglob("*")
        if file.is_symlink() or file.is_file()
    }
    index = (plot.admin / "index").read_bytes() if (plot.admin / "index").exists() else b""
    return {
        **files,
        "index": index,
        "HEAD": (plot.admin / "HEAD").read_bytes(),
        "left": sorted(plot.admin.iterdir()),
    }


def saved(plot: TaskWorktree) -> str:
    """The one commit that was saved; saving it changed nothing, and saving again gives the same."""
    before = state(plot)
    ref = plot.save()
    assert ref == "refs/plait/saved/7f3a/01-pages/1"
    assert plot.save() == ref
    assert state(plot) == before
    return plot.read_saved_refs()[ref]


def test_there_is_nothing_to_save(plot: TaskWorktree) -> None:
    assert plot.save() is None
    own = plot.commit("one.txt", "1\n")
    assert plot.save() is None
    plot.git("checkout", "-q", "--detach", own)
    assert plot.save() is None
    assert plot.read_saved_refs() == {}


def test_ignored_files_are_nothing(plot: TaskWorktree) -> None:
    plot.commit(".gitignore", "build/\n")
    plot.write("build/out", "x\n")
    assert plot.save() is None


def test_edits_new_files_and_deletions(plot: TaskWorktree) -> None:
    plot.write("a.txt", "changed\n")
    plot.write("new.txt", "new\n")
    (plot.path / "b.txt").unlink()
    commit = saved(plot)
    assert plot.files(commit) == {"a.txt": "changed", "new.txt": "new", "d/c.txt": "c"}
    assert plot.git("rev-parse", f"{commit}^") == plot.base


def test_what_is_only_in_the_index(plot: TaskWorktree) -> None:
    plot.write("a.txt", "staged\n")
    plot.git("add", "a.txt")
    plot.write("a.txt", "in the file\n")
    commit = saved(plot)
    assert plot.show(commit, "a.txt") == "in the file"
    assert plot.show(f"{commit}^2", "a.txt") == "staged"


def test_what_is_staged_and_as_in_the_files_is_one_thing(plot: TaskWorktree) -> None:
    plot.write("a.txt", "staged\n")
    plot.git("add", "a.txt")
    assert plot.git("rev-parse", f"{saved(plot)}^@") == plot.base


def test_commits_on_no_branch(plot: TaskWorktree) -> None:
    plot.git("checkout", "-q", "--detach")
    own = plot.commit("one.txt", "1\n")
    saved(plot)
    assert plot.is_saved(own)


def test_an_unfinished_merge_with_its_other_side(plot: TaskWorktree) -> None:
    plot.git("checkout", "-q", "--detach")
    theirs = plot.commit("a.txt", "theirs\n")
    plot.git("checkout", "-q", plot.branch)
    plot.commit("a.txt", "ours\n")
    plot.git("merge", theirs, fails=True)
    assert "<<<<<<<" in plot.show(saved(plot), "a.txt")
    assert plot.is_saved(theirs)


def test_a_repository_inside(plot: TaskWorktree) -> None:
    (plot.path / "inner").mkdir()
    plot.git("init", "-q", at=plot.path / "inner")
    plot.write("inner/x.txt", "x\n")
    assert plot.files(saved(plot))["inner/x.txt"] == "x"


def test_work_on_a_branch_that_is_not_born(plot: TaskWorktree) -> None:
    plot.git("checkout", "-q", "--orphan", "fresh")
    plot.git("rm", "-q", "-r", "-f", "--cached", ".")
    plot.write("one.txt", "1\n")
    assert plot.files(saved(plot))["one.txt"] == "1"


def test_each_work_has_a_name_of_its_own(plot: TaskWorktree) -> None:
    plot.write("one.txt", "1\n")
    assert plot.save() == "refs/plait/saved/7f3a/01-pages/1"
    plot.write("one.txt", "2\n")
    assert plot.save() == "refs/plait/saved/7f3a/01-pages/2"
    plot.write("one.txt", "1\n")
    assert plot.save() == "refs/plait/saved/7f3a/01-pages/1"


def test_what_a_dead_process_left_is_swept(plot: TaskWorktree) -> None:
    left = plot.admin / "plait-scratch-999999999-x"
    left.mkdir()
    (left / "index").touch()
    (plot.common / "refs/plait/saved/7f3a/01-pages").mkdir(parents=True)
    (plot.common / "refs/plait/saved/7f3a/01-pages/1.lock").touch()
    plot.write("one.txt", "1\n")
    assert plot.save() is not None
    assert not left.exists()


def test_a_worktree_that_was_moved(plot: TaskWorktree) -> None:
    plot.write("one.txt", "1\n")
    moved = plot.path.parent / "pool"
    plot.git("worktree", "move", str(plot.path), str(moved), at=plot.main)
    shutil.rmtree(plot.path, ignore_errors=True)
    plot.path.symlink_to(moved)
    assert plot.save() is not None
