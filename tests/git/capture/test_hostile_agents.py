"""What an agent may do to the repository, by mistake or not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from plait.git.worktrees.agent_worktree import WorktreeError
from tests.support.task_worktree import TaskWorktree


def test_a_removed_git_file_is_restored(worktree: TaskWorktree) -> None:
    (worktree.path / ".git").unlink()
    worktree.write("one.txt", "1\n")
    assert worktree.capture().files == ("one.txt",)
    assert worktree.is_clean()


@pytest.mark.parametrize("commits", [True, False])
def test_a_repository_made_in_place_of_the_worktree_is_captured(worktree: TaskWorktree, *, commits: bool) -> None:
    (worktree.path / ".git").unlink()
    worktree.git("init", "-q")
    worktree.git("config", "user.name", "a")
    worktree.git("config", "user.email", "a@b")
    own = worktree.commit("one.txt", "1\n") if commits else ""
    worktree.write("two.txt", "2\n")
    captured = worktree.capture()
    assert set(captured.files) == ({"one.txt", "two.txt"} if commits else {"two.txt"})
    assert (worktree.path / ".git").is_file()
    assert worktree.is_clean()
    if commits:
        assert worktree.is_saved(own)
        assert not list(worktree.gitdir.glob("plait-left-*"))


def test_a_git_file_that_points_to_the_users_checkout_is_ignored(worktree: TaskWorktree) -> None:
    (worktree.path / ".git").write_text(f"gitdir: {worktree.common}\n")
    worktree.write("one.txt", "1\n")
    before = ((worktree.common / "index").read_bytes(), (worktree.common / "HEAD").read_bytes())
    assert worktree.capture().files == ("one.txt",)
    assert ((worktree.common / "index").read_bytes(), (worktree.common / "HEAD").read_bytes()) == before
    assert worktree.git("rev-parse", "trunk", at=worktree.main) == worktree.base


def test_a_git_file_that_points_to_another_tasks_worktree_is_ignored(worktree: TaskWorktree) -> None:
    other = worktree.path.with_name("plait-02")
    worktree.git("worktree", "add", "-q", "--detach", str(other), at=worktree.main)
    (other / ".git").unlink()
    other_gitdir = worktree.gitdir.with_name("plait-02")
    (worktree.path / ".git").write_text(f"gitdir: {other_gitdir}\n")
    worktree.write("one.txt", "1\n")
    assert worktree.capture().files == ("one.txt",)
    assert (other_gitdir / "gitdir").read_text() == f"{other / '.git'}\n"


def test_a_missing_workspace_is_reported(worktree: TaskWorktree) -> None:
    shutil.rmtree(worktree.path)
    with pytest.raises(WorktreeError, match="no longer exists"):
        worktree.capture()


def test_a_workspace_that_was_deleted_and_made_again_is_reported(worktree: TaskWorktree) -> None:
    shutil.rmtree(worktree.path)
    worktree.write("stray.txt", "written by what still ran\n")
    with pytest.raises(WorktreeError, match="was deleted"):
        worktree.capture()


def test_a_missing_gitdir_is_reported(worktree: TaskWorktree) -> None:
    shutil.rmtree(worktree.gitdir)
    with pytest.raises(WorktreeError, match="not a git worktree any more"):
        worktree.capture()


@pytest.mark.parametrize("head", ["nonsense\n", "ref: refs/heads/a\0b\n"])
def test_an_invalid_head_is_repaired(worktree: TaskWorktree, head: str) -> None:
    (worktree.gitdir / "HEAD").write_text(head)
    worktree.write("one.txt", "1\n")
    assert worktree.capture().files == ("one.txt",)


@pytest.mark.parametrize("ref", ["refs/worktree/x", "refs/heads/a\u2028b", "refs/heads/a\u00a0b"])
def test_commits_under_an_unusual_head_are_the_result(worktree: TaskWorktree, ref: str) -> None:
    worktree.git("update-ref", ref, worktree.base, at=worktree.main)
    worktree.git("update-ref", ref, worktree.base)
    worktree.git("symbolic-ref", "HEAD", ref)
    own = worktree.commit("one.txt", "1\n")
    assert worktree.capture().tip == own


def trap(worktree: TaskWorktree) -> tuple[Path, Path]:
    """A program that leaves a trace when it is run."""
    trace, program = worktree.main.parent / "trace", worktree.main.parent / "trap"
    program.write_text(f"#!/bin/sh\necho run >> '{trace}'\ncat\n")
    program.chmod(0o755)
    return trace, program


@pytest.mark.parametrize(
    "setting",
    [
        "core.fsmonitor",
        "core.editor",
        "core.pager",
        "diff.external",
        "diff.x.textconv",
        "diff.x.command",
        "core.sshCommand",
        "gpg.program",
        "merge.x.driver",
        "core.askPass",
    ],
)
def test_programs_configured_by_the_agent_are_not_run(worktree: TaskWorktree, setting: str) -> None:
    trace, program = trap(worktree)
    worktree.git("config", setting, str(program))
    worktree.write(".gitattributes", "* diff=x merge=x\n")
    worktree.write("a.txt", "changed\n")
    tip = worktree.capture().tip
    worktree.write("b.txt", "changed\n")
    worktree.save()
    worktree.put_back(tip)
    assert not trace.exists()


@pytest.mark.parametrize("where", ["in the repository", "elsewhere"])
def test_hooks_are_not_run_by_default(worktree: TaskWorktree, where: str) -> None:
    trace, program = trap(worktree)
    folder = worktree.common / "hooks" if where == "in the repository" else worktree.main.parent / "hooks"
    folder.mkdir(exist_ok=True)
    for name in (
        "pre-commit",
        "commit-msg",
        "post-commit",
        "reference-transaction",
        "post-checkout",
        "post-index-change",
    ):
        shutil.copy(program, folder / name)
    if where == "elsewhere":
        worktree.git("config", "core.hooksPath", str(folder))
    worktree.write("a.txt", "changed\n")
    tip = worktree.capture().tip
    trace.unlink(missing_ok=True)
    worktree.write("b.txt", "changed\n")
    worktree.put_back(tip)
    assert not trace.exists()


def test_settings_that_point_to_other_folders_are_ignored(worktree: TaskWorktree, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    worktree.git("config", "core.worktree", str(elsewhere))
    worktree.git("config", "core.bare", "true")
    worktree.write("one.txt", "1\n")
    assert worktree.capture().files == ("one.txt",)


def test_object_replacements_are_ignored(worktree: TaskWorktree) -> None:
    other = worktree.commit("other.txt", "x\n")
    worktree.git("reset", "-q", "--hard", worktree.base)
    worktree.git("replace", worktree.base, other)
    worktree.write("one.txt", "1\n")
    assert worktree.capture().files == ("one.txt",)


def test_filters_of_the_repository_are_used(worktree: TaskWorktree) -> None:
    worktree.git("config", "filter.shout.clean", "tr a-z A-Z")
    worktree.write(".gitattributes", "*.txt filter=shout\n")
    worktree.write("new.txt", "quiet\n")
    assert worktree.show(worktree.capture().tip, "new.txt") == "QUIET"


def test_hundreds_of_untracked_folders_are_captured(worktree: TaskWorktree) -> None:
    for n in range(300):
        worktree.write(f"n/{n}/x.txt", f"{n}\n")
    assert len(worktree.capture().files) == 300
