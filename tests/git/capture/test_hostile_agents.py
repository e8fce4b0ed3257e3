"""What an agent may do to the repository, by mistake or not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from plait.git.worktrees.agent_worktree import WorktreeError
from tests.support.task_worktree import TaskWorktree


def test_a_git_file_that_was_removed_is_put_back(plot: TaskWorktree) -> None:
    (plot.path / ".git").unlink()
    plot.write("one.txt", "1\n")
    assert plot.capture().files == ("one.txt",)
    assert plot.is_clean()


@pytest.mark.parametrize("commits", [True, False])
def test_a_repository_made_in_the_place_of_the_worktree(plot: TaskWorktree, *, commits: bool) -> None:
    (plot.path / ".git").unlink()
    plot.git("init", "-q")
    plot.git("config", "user.name", "a")
    plot.git("config", "user.email", "a@b")
    own = plot.commit("one.txt", "1\n") if commits else ""
    plot.write("two.txt", "2\n")
    captured = plot.capture()
    assert set(captured.files) == ({"one.txt", "two.txt"} if commits else {"two.txt"})
    assert (plot.path / ".git").is_file()
    assert plot.is_clean()
    if commits:
        assert plot.is_saved(own)
        assert not list(plot.admin.glob("plait-left-*"))


def test_a_git_file_that_points_at_the_users_checkout_is_not_believed(plot: TaskWorktree) -> None:
    (plot.path / ".git").write_text(f"gitdir: {plot.common}\n")
    plot.write("one.txt", "1\n")
    before = ((plot.common / "index").read_bytes(), (plot.common / "HEAD").read_bytes())
    assert plot.capture().files == ("one.txt",)
    assert ((plot.common / "index").read_bytes(), (plot.common / "HEAD").read_bytes()) == before
    assert plot.git("rev-parse", "trunk", at=plot.main) == plot.base


def test_a_git_file_that_names_another_tasks_worktree_is_not_believed(plot: TaskWorktree) -> None:
    other = plot.path.with_name("plait-02")
    plot.git("worktree", "add", "-q", "--detach", str(other), at=plot.main)
    (other / ".git").unlink()
    theirs = plot.admin.with_name("plait-02")
    (plot.path / ".git").write_text(f"gitdir: {theirs}\n")
    plot.write("one.txt", "1\n")
    assert plot.capture().files == ("one.txt",)
    assert (theirs / "gitdir").read_text() == f"{other / '.git'}\n"


def test_a_folder_that_is_gone_is_told(plot: TaskWorktree) -> None:
    shutil.rmtree(plot.path)
    with pytest.raises(WorktreeError, match="is gone"):
        plot.capture()


def test_records_that_are_gone_are_told(plot: TaskWorktree) -> None:
    shutil.rmtree(plot.admin)
    with pytest.raises(WorktreeError, match="not a git worktree any more"):
        plot.capture()


def test_a_head_that_means_nothing(plot: TaskWorktree) -> None:
    (plot.admin / "HEAD").write_text("nonsense\n")
    plot.write("one.txt", "1\n")
    assert plot.capture().files == ("one.txt",)


def trap(plot: TaskWorktree) -> tuple[Path, Path]:
    """A program that leaves a trace when it is run."""
    trace, program = plot.main.parent / "trace", plot.main.parent / "trap"
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
def test_programs_that_the_agent_put_into_the_settings_are_not_run(plot: TaskWorktree, setting: str) -> None:
    trace, program = trap(plot)
    plot.git("config", setting, str(program))
    plot.write(".gitattributes", "* diff=x merge=x\n")
    plot.write("a.txt", "changed\n")
    tip = plot.capture().tip
    plot.write("b.txt", "changed\n")
    plot.save()
    plot.put_back(tip)
    assert not trace.exists()


@pytest.mark.parametrize("where", ["in the repository", "elsewhere"])
def test_hooks_that_nobody_asked_for_are_not_run(plot: TaskWorktree, where: str) -> None:
    trace, program = trap(plot)
    folder = plot.common / "hooks" if where == "in the repository" else plot.main.parent / "hooks"
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
        plot.git("config", "core.hooksPath", str(folder))
    plot.write("a.txt", "changed\n")
    tip = plot.capture().tip
    trace.unlink(missing_ok=True)
    plot.write("b.txt", "changed\n")
    plot.put_back(tip)
    assert not trace.exists()


def test_settings_that_lead_elsewhere_are_not_followed(plot: TaskWorktree, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    plot.git("config", "core.worktree", str(elsewhere))
    plot.git("config", "core.bare", "true")
    plot.write("one.txt", "1\n")
    assert plot.capture().files == ("one.txt",)


def test_a_base_that_was_replaced_is_still_the_base(plot: TaskWorktree) -> None:
    other = plot.commit("other.txt", "x\n")
    plot.git("reset", "-q", "--hard", plot.base)
    plot.git("replace", plot.base, other)
    plot.write("one.txt", "1\n")
    assert plot.capture().files == ("one.txt",)


def test_a_filter_of_the_repository_is_used_since_contents_depend_on_it(plot: TaskWorktree) -> None:
    plot.git("config", "filter.shout.clean", "tr a-z A-Z")
    plot.write(".gitattributes", "*.txt filter=shout\n")
    plot.write("new.txt", "quiet\n")
    assert plot.show(plot.capture().tip, "new.txt") == "QUIET"


def test_hundreds_of_untracked_folders(plot: TaskWorktree) -> None:
    for n in range(300):
        plot.write(f"n/{n}/x.txt", f"{n}\n")
    assert len(plot.capture().files) == 300
