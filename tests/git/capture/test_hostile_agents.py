"""What an agent may do to the repository, by mistake or not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from plait.git.worktrees.agent_worktree import WorktreeError
from tests.support.task_worktree import TaskWorktree


def test_a_git_file_that_was_removed_is_put_back(worktree: TaskWorktree) -> None:
    (worktree.path / ".git").unlink()
    worktree.write("one.txt", "1\n")
    assert worktree.capture().files == ("one.txt",)
    assert worktree.is_clean()


@pytest.mark.parametrize("commits", [True, False])
def test_a_repository_made_in_the_place_of_the_worktree(worktree: TaskWorktree, *, commits: bool) -> None:
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
        assert not list(worktree.admin.glob("plait-left-*"))


def test_a_git_file_that_points_at_the_users_checkout_is_not_believed(worktree: TaskWorktree) -> None:
    (worktree.path / ".git").write_text(f"gitdir: {worktree.common}\n")
    worktree.write("one.txt", "1\n")
    before = ((worktree.common / "index").read_bytes(), (worktree.common / "HEAD").read_bytes())
    assert worktree.capture().files == ("one.txt",)
    assert ((worktree.common / "index").read_bytes(), (worktree.common / "HEAD").read_bytes()) == before
    assert worktree.git("rev-parse", "trunk", at=worktree.main) == worktree.base


def test_a_git_file_that_names_another_tasks_worktree_is_not_believed(worktree: TaskWorktree) -> None:
    other = worktree.path.with_name("plait-02")
    worktree.git("worktree", "add", "-q", "--detach", str(other), at=worktree.main)
    (other / ".git").unlink()
    theirs = worktree.admin.with_name("plait-02")
    (worktree.path / ".git").write_text(f"gitdir: {theirs}\n")
    worktree.write("one.txt", "1\n")
    assert worktree.capture().files == ("one.txt",)
    assert (theirs / "gitdir").read_text() == f"{other / '.git'}\n"


def test_a_folder_that_is_gone_is_told(worktree: TaskWorktree) -> None:
    shutil.rmtree(worktree.path)
    with pytest.raises(WorktreeError, match="is gone"):
        worktree.capture()


def test_records_that_are_gone_are_told(worktree: TaskWorktree) -> None:
    shutil.rmtree(worktree.admin)
    with pytest.raises(WorktreeError, match="not a git worktree any more"):
        worktree.capture()


def test_a_head_that_means_nothing(worktree: TaskWorktree) -> None:
    (worktree.admin / "HEAD").write_text("nonsense\n")
    worktree.write("one.txt", "1\n")
    assert worktree.capture().files == ("one.txt",)


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
def test_programs_that_the_agent_put_into_the_settings_are_not_run(worktree: TaskWorktree, setting: str) -> None:
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
def test_hooks_that_nobody_asked_for_are_not_run(worktree: TaskWorktree, where: str) -> None:
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


def test_settings_that_lead_elsewhere_are_not_followed(worktree: TaskWorktree, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    worktree.git("config", "core.worktree", str(elsewhere))
    worktree.git("config", "core.bare", "true")
    worktree.write("one.txt", "1\n")
    assert worktree.capture().files == ("one.txt",)


def test_a_base_that_was_replaced_is_still_the_base(worktree: TaskWorktree) -> None:
    other = worktree.commit("other.txt", "x\n")
    worktree.git("reset", "-q", "--hard", worktree.base)
    worktree.git("replace", worktree.base, other)
    worktree.write("one.txt", "1\n")
    assert worktree.capture().files == ("one.txt",)


def test_a_filter_of_the_repository_is_used_since_contents_depend_on_it(worktree: TaskWorktree) -> None:
    worktree.git("config", "filter.shout.clean", "tr a-z A-Z")
    worktree.write(".gitattributes", "*.txt filter=shout\n")
    worktree.write("new.txt", "quiet\n")
    assert worktree.show(worktree.capture().tip, "new.txt") == "QUIET"


def test_hundreds_of_untracked_folders(worktree: TaskWorktree) -> None:
    for n in range(300):
        worktree.write(f"n/{n}/x.txt", f"{n}\n")
    assert len(worktree.capture().files) == 300
