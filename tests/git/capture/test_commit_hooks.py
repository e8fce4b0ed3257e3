"""Commits with the repository's hooks, for who asks for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.core.errors import Fault
from plait.git.worktrees.attempt_commit import HookRefusedError
from tests.support.task_worktree import TaskWorktree


def hook(plot: TaskWorktree, name: str, script: str, folder: Path | None = None) -> None:
    file = (folder or plot.common / "hooks") / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


@pytest.mark.parametrize("where", ["in the repository", "elsewhere", "in the worktree"])
def test_hooks_see_the_commit_and_may_change_it(plot: TaskWorktree, tmp_path: Path, where: str) -> None:
    folder = {
        "in the repository": None,
        "elsewhere": tmp_path / "hooks",
        "in the worktree": plot.path / ".hooks",
    }[where]
    if folder is not None:
        plot.git("config", "core.hooksPath", str(folder) if where == "elsewhere" else ".hooks")
    hook(plot, "pre-commit", "echo formatted > a.txt && git add a.txt", folder)
    hook(plot, "commit-msg", 'echo "Checked: yes" >> "$1"', folder)
    plot.write("a.txt", "changed\n")
    tip = plot.capture(hooks=True).tip
    assert plot.show(tip, "a.txt") == "formatted"
    assert plot.git("log", "-1", "--format=%(trailers:key=Checked,valueonly)", tip).strip() == "yes"
    assert plot.git("log", "-1", "--format=%s", tip) == "Make the pages"
    assert plot.is_clean()
    assert plot.capture(hooks=True).tip == tip


def test_a_refusal_is_the_agents_to_mend_and_what_it_made_is_saved(plot: TaskWorktree) -> None:
    hook(plot, "pre-commit", "echo 'line 3 is too long' >&2; exit 1")
    plot.write("one.txt", "1\n")
    with pytest.raises(HookRefusedError, match="line 3 is too long") as caught:
        plot.capture(hooks=True)
    assert caught.value.fault is Fault.AGENT
    ((ref, commit),) = plot.read_saved_refs().items()
    assert ref in caught.value.hint
    assert plot.files(commit)["one.txt"] == "1"
    assert (plot.path / "one.txt").read_text() == "1\n"
    hook(plot, "pre-commit", "exit 0")
    assert plot.capture(hooks=True).files == ("one.txt",)


def test_nothing_to_commit_runs_no_hook(plot: TaskWorktree) -> None:
    hook(plot, "pre-commit", "exit 1")
    own = plot.git("rev-parse", "HEAD")
    assert plot.capture(hooks=True).tip == own


def test_a_resolved_merge_keeps_both_parents(plot: TaskWorktree) -> None:
    hook(plot, "pre-commit", "exit 0")
    plot.git("switch", "-q", "-c", "theirs")
    theirs = plot.commit("a.txt", "theirs\n")
    plot.git("switch", "-q", plot.branch)
    ours = plot.commit("a.txt", "ours\n")
    plot.git("merge", "theirs", fails=True)
    plot.write("a.txt", "both\n")
    tip = plot.capture(hooks=True).tip
    assert plot.git("rev-parse", f"{tip}^@").split() == [ours, theirs]
    assert not (plot.admin / "MERGE_HEAD").exists()


def test_a_rewritten_history_is_one_commit_on_the_base(plot: TaskWorktree) -> None:
    hook(plot, "pre-commit", "exit 0")
    plot.git("checkout", "-q", "--orphan", "fresh")
    own = plot.commit("one.txt", "1\n")
    captured = plot.capture(hooks=True)
    assert plot.git("rev-parse", f"{captured.tip}^@") == plot.base
    assert captured.files == ("one.txt",)
    assert plot.is_saved(own)
