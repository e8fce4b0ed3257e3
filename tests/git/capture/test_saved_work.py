"""What no ref reaches is put where one does, and nothing else changes."""

from __future__ import annotations

import shutil

from tests.support.task_worktree import TaskWorktree


def state(worktree: TaskWorktree) -> dict[str, object]:
    """Everything of the worktree that could be changed, but for the times at which its files were read."""
    files = {
        str(file.relative_to(worktree.path)): (
            file.lstat().st_mtime_ns,
            str(file.readlink()) if file.is_symlink() else file.read_bytes(),
        )
        for file in worktree.path.rglob("*")
        if file.is_symlink() or file.is_file()
    }
    index = (worktree.gitdir / "index").read_bytes() if (worktree.gitdir / "index").exists() else b""
    return {
        **files,
        "index": index,
        "HEAD": (worktree.gitdir / "HEAD").read_bytes(),
        "left": sorted(worktree.gitdir.iterdir()),
    }


def saved(worktree: TaskWorktree) -> str:
    """The one commit that was saved; saving it changed nothing, and saving again gives the same."""
    before = state(worktree)
    ref = worktree.save()
    assert ref == "refs/plait/saved/7f3a/01-pages/1"
    assert worktree.save() == ref
    assert state(worktree) == before
    return worktree.read_saved_refs()[ref]


def test_a_clean_workspace_has_nothing_to_save(worktree: TaskWorktree) -> None:
    assert worktree.save() is None
    own = worktree.commit("one.txt", "1\n")
    assert worktree.save() is None
    worktree.git("checkout", "-q", "--detach", own)
    assert worktree.save() is None
    assert worktree.read_saved_refs() == {}


def test_ignored_files_are_not_saved(worktree: TaskWorktree) -> None:
    worktree.commit(".gitignore", "build/\n")
    worktree.write("build/out", "x\n")
    assert worktree.save() is None


def test_edits_new_files_and_deletions_are_saved(worktree: TaskWorktree) -> None:
    worktree.write("a.txt", "changed\n")
    worktree.write("new.txt", "new\n")
    (worktree.path / "b.txt").unlink()
    commit = saved(worktree)
    assert worktree.files(commit) == {"a.txt": "changed", "new.txt": "new", "d/c.txt": "c"}
    assert worktree.git("rev-parse", f"{commit}^") == worktree.base


def test_staged_changes_are_saved(worktree: TaskWorktree) -> None:
    worktree.write("a.txt", "staged\n")
    worktree.git("add", "a.txt")
    worktree.write("a.txt", "in the file\n")
    commit = saved(worktree)
    assert worktree.show(commit, "a.txt") == "in the file"
    assert worktree.show(f"{commit}^2", "a.txt") == "staged"


def test_staged_changes_equal_to_the_files_are_saved_once(worktree: TaskWorktree) -> None:
    worktree.write("a.txt", "staged\n")
    worktree.git("add", "a.txt")
    assert worktree.git("rev-parse", f"{saved(worktree)}^@") == worktree.base


def test_commits_on_no_branch_are_saved(worktree: TaskWorktree) -> None:
    worktree.git("checkout", "-q", "--detach")
    own = worktree.commit("one.txt", "1\n")
    saved(worktree)
    assert worktree.is_saved(own)


def test_an_unfinished_merge_is_saved_with_its_other_side(worktree: TaskWorktree) -> None:
    worktree.git("checkout", "-q", "--detach")
    other_commit = worktree.commit("a.txt", "theirs\n")
    worktree.git("checkout", "-q", worktree.branch)
    worktree.commit("a.txt", "ours\n")
    worktree.git("merge", other_commit, fails=True)
    assert "<<<<<<<" in worktree.show(saved(worktree), "a.txt")
    assert worktree.is_saved(other_commit)


def test_files_of_a_nested_repository_are_saved(worktree: TaskWorktree) -> None:
    (worktree.path / "inner").mkdir()
    worktree.git("init", "-q", at=worktree.path / "inner")
    worktree.write("inner/x.txt", "x\n")
    assert worktree.files(saved(worktree))["inner/x.txt"] == "x"


def test_work_on_an_unborn_branch_is_saved(worktree: TaskWorktree) -> None:
    worktree.git("checkout", "-q", "--orphan", "fresh")
    worktree.git("rm", "-q", "-r", "-f", "--cached", ".")
    worktree.write("one.txt", "1\n")
    assert worktree.files(saved(worktree))["one.txt"] == "1"


def test_each_saved_state_has_its_own_ref(worktree: TaskWorktree) -> None:
    worktree.write("one.txt", "1\n")
    assert worktree.save() == "refs/plait/saved/7f3a/01-pages/1"
    worktree.write("one.txt", "2\n")
    assert worktree.save() == "refs/plait/saved/7f3a/01-pages/2"
    worktree.write("one.txt", "1\n")
    assert worktree.save() == "refs/plait/saved/7f3a/01-pages/1"


def test_scratch_folders_of_dead_processes_are_removed(worktree: TaskWorktree) -> None:
    left = worktree.gitdir / "plait-scratch-999999999-x"
    left.mkdir()
    (left / "index").touch()
    (worktree.common / "refs/plait/saved/7f3a/01-pages").mkdir(parents=True)
    (worktree.common / "refs/plait/saved/7f3a/01-pages/1.lock").touch()
    worktree.write("one.txt", "1\n")
    assert worktree.save() is not None
    assert not left.exists()


def test_a_moved_worktree_is_saved(worktree: TaskWorktree) -> None:
    worktree.write("one.txt", "1\n")
    moved = worktree.path.parent / "pool"
    worktree.git("worktree", "move", str(worktree.path), str(moved), at=worktree.main)
    shutil.rmtree(worktree.path, ignore_errors=True)
    worktree.path.symlink_to(moved)
    assert worktree.save() is not None
