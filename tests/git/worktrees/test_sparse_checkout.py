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
def wide(ground: WorkspaceRepo) -> WorkspaceRepo:
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
    ground.commit({name: f"{name}\n" for name in names})
    return ground


def _files(workspace: Path) -> list[str]:
    found = [each for each in workspace.rglob("*") if each.is_file() and each.name != ".git"]
    return sorted(str(each.relative_to(workspace)) for each in found)


HELD = [".gitignore", "README", "docs/d", "src/app.py", "src/app/a", "src/app/deep/b", "src/near", "top"]


def test_only_the_named_folders_exist_and_nothing_counts_as_deleted(wide: WorkspaceRepo) -> None:
    before = wide.snapshot_user_files()
    workspace = wide.prepare(setup=APP)
    assert _files(workspace) == HELD
    assert wide.status(workspace) == ""
    tip = wide.commit({"src/app/a": "changed\n", "docs/new": "n\n"}, at=workspace)
    changed = wide.git("diff", "--name-only", f"{tip}^", tip).splitlines()
    assert changed == ["docs/new", "src/app/a"]
    assert wide.snapshot_user_files() == before  # the configuration too


def test_git_works_in_a_sparse_workspace(wide: WorkspaceRepo) -> None:
    workspace = wide.prepare(setup=APP)
    wide.write({"docs/d": "half done\n"}, at=workspace)
    wide.git("stash", at=workspace)
    wide.git("stash", "pop", at=workspace)
    wide.git("reset", "--quiet", "--hard", at=workspace)
    onto = wide.commit({"data/e": "changed elsewhere\n"})
    wide.git("merge", "--quiet", onto, at=workspace)
    assert wide.status(workspace) == ""
    assert wide.git("rev-parse", "HEAD^{tree}", at=workspace) == wide.git("rev-parse", f"{onto}^{{tree}}")


def test_a_file_written_outside_the_sparse_folders_is_saved(wide: WorkspaceRepo) -> None:
    workspace = wide.prepare(setup=APP)
    wide.write({"data/e": "written\n", "data/new": "n\n"}, at=workspace)
    base = wide.head
    wide.release()
    (saved,) = wide.list_saved()
    assert wide.git("diff", "--name-only", base, saved).splitlines() == ["data/e", "data/new"]


def test_the_pool_reuses_only_worktrees_with_the_same_sparse_folders(wide: WorkspaceRepo) -> None:
    first = wide.prepare("one", setup=APP)
    admin = wide.admin(first)
    wide.write({"data/e": "written\n"}, at=first)
    wide.git("update-index", "--skip-worktree", "docs/d", at=first)
    wide.write({"docs/d": "hidden\n"}, at=first)
    wide.release("one")
    whole = wide.prepare("two")
    assert wide.admin(whole) != admin
    assert (whole / "data/e").exists()
    base = wide.commit({"data/more": "m\n", "docs/more": "m\n"})
    again = wide.prepare("three", setup=APP, base=base)
    assert wide.admin(again) == admin
    assert _files(again) == sorted([*HELD, "docs/more"])
    assert (again / "docs/d").read_text() == "docs/d\n"
    assert wide.status(again) == ""


def test_special_characters_in_folder_names_are_literal(wide: WorkspaceRepo) -> None:
    workspace = wide.prepare(setup=WorkspaceSetup(sparse=("data/[x]",)))
    assert _files(workspace) == [".gitignore", "README", "data/[x]/f", "data/e", "top"]


def test_nested_folders_are_merged() -> None:
    assert normalize_sparse_folders(("src/app/", "src/app/deep", "/docs", "docs")) == ("docs", "src/app")
    assert format_cone_patterns(("src/app",)).splitlines() == ["/*", "!/*/", "/src/", "!/src/*/", "/src/app/"]


@pytest.mark.parametrize("bad", ["", "/", "../out", "a/../../b", "new\nline"])
def test_a_folder_outside_of_the_repository_is_refused(bad: str) -> None:
    with pytest.raises(UserError, match="is not a folder of the repository"):
        normalize_sparse_folders((bad,))
