"""Commits with the repository's hooks, for who asks for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.core.errors import Fault
from plait.git.worktrees.capture import HookRefusedError
from tests.support.task_worktree import TaskWorktree


def hook(worktree: TaskWorktree, name: str, script: str, folder: Path | None = None) -> None:
    file = (folder or worktree.common / "hooks") / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


@pytest.mark.parametrize("where", ["in the repository", "elsewhere", "in the worktree"])
def test_hooks_see_the_commit_and_may_change_it(worktree: TaskWorktree, tmp_path: Path, where: str) -> None:
    folder = {
        "in the repository": None,
        "elsewhere": tmp_path / "hooks",
        "in the worktree": worktree.path / ".hooks",
    }[where]
    if folder is not None:
        worktree.git("config", "core.hooksPath", str(folder) if where == "elsewhere" else ".hooks")
    hook(worktree, "pre-commit", "echo formatted > a.txt && git add a.txt", folder)
    hook(worktree, "commit-msg", 'echo "Checked: yes" >> "$1"', folder)
    worktree.write("a.txt", "changed\n")
    tip = worktree.capture(hooks=True).tip
    assert worktree.show(tip, "a.txt") == "formatted"
    assert worktree.git("log", "-1", "--format=%(trailers:key=Checked,valueonly)", tip).strip() == "yes"
    assert worktree.git("log", "-1", "--format=%s", tip) == "Make the pages"
    assert worktree.is_clean()
    assert worktree.capture(hooks=True).tip == tip


def test_a_commit_refused_by_a_hook_is_an_agent_error_and_saved(worktree: TaskWorktree) -> None:
    hook(worktree, "pre-commit", "echo 'line 3 is too long' >&2; exit 1")
    worktree.write("one.txt", "1\n")
    with pytest.raises(HookRefusedError, match="line 3 is too long") as caught:
        worktree.capture(hooks=True)
    assert caught.value.fault is Fault.AGENT
    ((ref, commit),) = worktree.read_saved_refs().items()
    assert ref in caught.value.hint
    assert worktree.files(commit)["one.txt"] == "1"
    assert (worktree.path / "one.txt").read_text() == "1\n"
    hook(worktree, "pre-commit", "exit 0")
    assert worktree.capture(hooks=True).files == ("one.txt",)


def test_an_empty_change_runs_no_hook(worktree: TaskWorktree) -> None:
    hook(worktree, "pre-commit", "exit 1")
    own = worktree.git("rev-parse", "HEAD")
    assert worktree.capture(hooks=True).tip == own


def test_a_resolved_merge_keeps_both_parents(worktree: TaskWorktree) -> None:
    hook(worktree, "pre-commit", "exit 0")
    worktree.git("switch", "-q", "-c", "theirs")
    other_commit = worktree.commit("a.txt", "theirs\n")
    worktree.git("switch", "-q", worktree.branch)
    ours = worktree.commit("a.txt", "ours\n")
    worktree.git("merge", "theirs", fails=True)
    worktree.write("a.txt", "both\n")
    tip = worktree.capture(hooks=True).tip
    assert worktree.git("rev-parse", f"{tip}^@").split() == [ours, other_commit]
    assert not (worktree.gitdir / "MERGE_HEAD").exists()


def test_a_rewritten_history_becomes_one_commit_on_the_base(worktree: TaskWorktree) -> None:
    hook(worktree, "pre-commit", "exit 0")
    worktree.git("checkout", "-q", "--orphan", "fresh")
    own = worktree.commit("one.txt", "1\n")
    captured = worktree.capture(hooks=True)
    assert worktree.git("rev-parse", f"{captured.tip}^@") == worktree.base
    assert captured.files == ("one.txt",)
    assert worktree.is_saved(own)
