"""Refs in tables instead of files, as git 2.45 and newer can keep them; skipped with a git that can't."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.core.errors import WorldError
from plait.git.worktrees.metadata import find_checkouts, read_head
from plait.git.worktrees.sandbox_view import build_view

if TYPE_CHECKING:
    from tests.git.worktrees.conftest import WorkspaceRepo

BRANCH = "plait/task-7f3a-one"


@pytest.fixture
def tables(repo: WorkspaceRepo, tmp_path: Path) -> WorkspaceRepo:
    repo.top = tmp_path / "tables"
    made = subprocess.run(
        ["git", "init", "--quiet", "--ref-format=reftable", repo.top], capture_output=True, check=False
    )
    if made.returncode:
        pytest.skip("this git has no reftable")
    repo.commit({"README": "read me\n"})
    return repo


def test_a_workspace_is_made_pooled_and_used_again(tables: WorkspaceRepo) -> None:
    workspace = tables.prepare("one")
    assert tables.git("symbolic-ref", "--short", "HEAD", at=workspace) == BRANCH
    tables.write({"new": "n\n"}, at=workspace)
    tables.release("one")
    assert [tables.text(saved, "new") for saved in tables.list_saved("one")] == ["n"]
    [pooled] = tables.list_pooled()
    second = tables.prepare("two")
    assert tables.gitdir(second).name == pooled
    assert tables.status(second) == ""
    assert tables.git("symbolic-ref", "--short", "HEAD", at=second) == "plait/task-7f3a-two"


def test_a_branch_checked_out_elsewhere_is_found(tables: WorkspaceRepo, tmp_path: Path) -> None:
    base = tables.head
    tables.git("worktree", "add", "--quiet", str(tmp_path / "before"), "-b", "other")
    tables.git("worktree", "add", "--quiet", str(tmp_path / "elsewhere"), "-b", BRANCH)
    assert list(find_checkouts(tables.common, f"refs/heads/{BRANCH}")) == [tmp_path / "elsewhere"]
    assert read_head(tables.common, tables.common / "worktrees" / "elsewhere") == f"refs/heads/{BRANCH}"
    with pytest.raises(WorldError, match="is checked out in"):
        tables.prepare("one", base=base)


def test_a_sandboxed_agent_sees_its_branch_and_no_other_of_plait(tables: WorkspaceRepo) -> None:
    workspace = tables.prepare("one")
    tables.git("branch", "plait/task-7f3a-two")
    view = Path(build_view(tables.common, tables.gitdir(workspace)).folder)
    assert (view / "worktrees" / tables.gitdir(workspace).name / "HEAD").read_text() == f"ref: refs/heads/{BRANCH}\n"
    names = [line.partition(" ")[2] for line in (view / "packed-refs").read_text().splitlines()[1:]]
    assert f"refs/heads/{BRANCH}" in names
    assert "refs/heads/plait/task-7f3a-two" not in names
    assert "refstorage" not in (view / "config").read_text().lower()
