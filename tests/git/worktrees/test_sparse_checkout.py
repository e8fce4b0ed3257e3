"""Workspaces that hold some folders only."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.core.errors import UserError
from plait.git.interfaces import WorkspaceSetup
from plait.git.worktrees.checkout import format_cone_patterns, normalize_sparse_folders

if TYPE_CHECKING:
    from tests.git.worktrees.conftest import WorkspaceRepo

APP = WorkspaceSetup(sparse=("src/app/", "docs"))


@pytest.fixture
def sparse_repo(repo: WorkspaceRepo) -> WorkspaceRepo:
    names = (
        "top",
        "src/near",
        "src/app/a",
        "src/app/deep/b",
        "src/other/c",
        "docs/d",
        "data/e",
        "data/[x]/f",
    )
    repo.commit({name: f"{name}\n" for name in names})
    return repo


def _files(workspace: Path) -> list[str]:
    found = [each for each in workspace.rglob("*") if each.is_file() and each.name != ".git"]
    return sorted(str(each.relative_to(workspace)) for each in found)


HELD = [".gitignore", "README", "docs/d", "src/app.py", "src/app/a", "src/app/deep/b", "src/near", "top"]


def test_only_the_named_folders_exist_and_nothing_counts_as_deleted(sparse_repo: WorkspaceRepo) -> None:
    before = sparse_repo.snapshot_user_files()
    workspace = sparse_repo.prepare(setup=APP)
    assert _files(workspace) == HELD
    assert sparse_repo.status(workspace) == ""
    tip = sparse_repo.commit({"src/app/a": "changed\n", "docs/new": "n\n"}, at=workspace)
    changed = sparse_repo.git("diff", "--name-only", f"{tip}^", tip).splitlines()
    assert changed == ["docs/new", "src/app/a"]
    assert sparse_repo.snapshot_user_files() == before  # the configuration too


def test_git_works_in_a_sparse_workspace(sparse_repo: WorkspaceRepo) -> None:
    workspace = sparse_repo.prepare(setup=APP)
    sparse_repo.write({"docs/d": "half done\n"}, at=workspace)
    sparse_repo.git("stash", at=workspace)
    sparse_repo.git("stash", "pop", at=workspace)
    sparse_repo.git("reset", "--quiet", "--hard", at=workspace)
    onto = sparse_repo.commit({"data/e": "changed elsewhere\n"})
    sparse_repo.git("merge", "--quiet", onto, at=workspace)
    assert sparse_repo.status(workspace) == ""
    assert sparse_repo.git("rev-parse", "HEAD^{tree}", at=workspace) == sparse_repo.git("rev-parse", f"{onto}^{{tree}}")


def test_a_file_written_outside_the_sparse_folders_is_saved(sparse_repo: WorkspaceRepo) -> None:
    workspace = sparse_repo.prepare(setup=APP)
    sparse_repo.write({"data/e": "written\n", "data/new": "n\n"}, at=workspace)
    base = sparse_repo.head
    sparse_repo.release()
    (saved,) = sparse_repo.list_saved()
    assert sparse_repo.git("diff", "--name-only", base, saved).splitlines() == ["data/e", "data/new"]


def test_the_pool_reuses_only_worktrees_with_the_same_sparse_folders(sparse_repo: WorkspaceRepo) -> None:
    first = sparse_repo.prepare("one", setup=APP)
    gitdir = sparse_repo.gitdir(first)
    sparse_repo.write({"data/e": "written\n"}, at=first)
    sparse_repo.git("update-index", "--skip-worktree", "docs/d", at=first)
    sparse_repo.write({"docs/d": "hidden\n"}, at=first)
    sparse_repo.release("one")
    whole = sparse_repo.prepare("two")
    assert sparse_repo.gitdir(whole) != gitdir
    assert (whole / "data/e").exists()
    base = sparse_repo.commit({"data/more": "m\n", "docs/more": "m\n"})
    again = sparse_repo.prepare("three", setup=APP, base=base)
    assert sparse_repo.gitdir(again) == gitdir
    assert _files(again) == sorted([*HELD, "docs/more"])
    assert (again / "docs/d").read_text() == "docs/d\n"
    assert sparse_repo.status(again) == ""


def test_special_characters_in_folder_names_are_literal(sparse_repo: WorkspaceRepo) -> None:
    workspace = sparse_repo.prepare(setup=WorkspaceSetup(sparse=("data/[x]",)))
    assert _files(workspace) == [".gitignore", "README", "data/[x]/f", "data/e", "top"]


def test_nested_folders_are_merged() -> None:
    assert normalize_sparse_folders(("src/app/", "src/app/deep", "/docs", "docs")) == ("docs", "src/app")
    assert format_cone_patterns(("src/app",)).splitlines() == ["/*", "!/*/", "/src/", "!/src/*/", "/src/app/"]


@pytest.mark.parametrize("bad", ["", "/", "../out", "a/../../b", "new\nline"])
def test_a_folder_outside_of_the_repository_is_refused(bad: str) -> None:
    with pytest.raises(UserError, match="is not a folder of the repository"):
        normalize_sparse_folders((bad,))
