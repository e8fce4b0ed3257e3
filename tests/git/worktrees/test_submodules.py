"""Submodules of a workspace come from the user's clones of them, and the user's configuration is not touched."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.git.interfaces import WorkspaceSetup

if TYPE_CHECKING:
    from tests.git.worktrees.conftest import WorkspaceRepo


_PLAIN = WorkspaceSetup()


@pytest.fixture
def nest(ground: WorkspaceRepo, tmp_path: Path) -> WorkspaceRepo:
    """A project with a library in it, which has another in it; where they came from is gone."""
    allow = ("-c", "protocol.file.allow=always")
    for name in ("inner", "library"):
        ground.git("init", "--quiet", str(tmp_path / name))
        ground.commit({name: f"{name}\n"}, at=tmp_path / name)
    ground.git(*allow, "submodule", "--quiet", "add", str(tmp_path / "inner"), "in side", at=tmp_path / "library")
    ground.commit({}, at=tmp_path / "library")
    ground.git(*allow, "submodule", "--quiet", "add", "--name", "the/lib", str(tmp_path / "library"), "lib")
    ground.git(*allow, "submodule", "--quiet", "update", "--init", "--recursive")
    ground.commit({})
    for name in ("inner", "library"):
        (tmp_path / name).rename(tmp_path / f"{name} is gone")
    return ground


def _modules(ground: WorkspaceRepo) -> dict[str, bytes]:
    """The configuration of the user's submodules."""
    return {str(each): each.read_bytes() for each in (ground.common / "modules").rglob("config")}


def test_submodules_are_filled_without_a_network(nest: WorkspaceRepo) -> None:
    before = nest.snapshot_user_files(), _modules(nest)
    workspace = nest.prepare()
    assert (workspace / "lib/library").read_text() == "library\n"
    assert (workspace / "lib/in side/inner").read_text() == "inner\n"
    assert nest.status(workspace) == ""
    nest.git("submodule", "update", "--recursive", at=workspace)  # as an agent may
    assert nest.git("submodule", "status", at=nest.top)
    assert (nest.snapshot_user_files(), _modules(nest)) == before


def test_work_in_a_submodule_is_saved(nest: WorkspaceRepo) -> None:
    before = nest.snapshot_user_files(), _modules(nest)
    workspace = nest.prepare()
    tip = nest.commit({"made": "m\n"}, at=workspace / "lib")
    nest.write({"made": "and changed\n"}, at=workspace / "lib")
    nest.write({"new": "n\n"}, at=workspace / "lib/in side")
    nest.release()
    assert not workspace.exists()
    assert nest.list_pooled() == []  # it would have to be moved with all of them
    held = {each: nest.git("ls-tree", "--name-only", each).split() for each in nest.list_saved()}
    (saved,) = [each for each, names in held.items() if "made" in names]
    assert nest.text(saved, "made") == "and changed"
    assert nest.git("merge-base", tip, saved) == tip
    assert sum("new" in names for names in held.values()) == 1
    assert (nest.snapshot_user_files(), _modules(nest)) == before
    assert nest.status(nest.prepare("two")) == ""


def test_an_unchanged_submodule_leaves_nothing_to_save(nest: WorkspaceRepo) -> None:
    nest.prepare()
    nest.release()
    assert nest.list_saved() == []


def test_a_submodule_without_a_clone_stays_empty_and_is_reported(nest: WorkspaceRepo, tmp_path: Path) -> None:
    nest.git("clone", "--quiet", str(nest.top), str(tmp_path / "fresh"))
    nest.top = tmp_path / "fresh"
    told: list[str] = []
    before = nest.snapshot_user_files()
    workspace = nest.open(told=told.append).prepare("7f3a", "one", nest.head, _PLAIN, top=str(nest.top))
    assert list((Path(workspace) / "lib").iterdir()) == []
    assert nest.status(Path(workspace)) == ""
    (line,) = told
    assert "lib" in line
    assert "git submodule update --init" in line
    assert nest.snapshot_user_files() == before


def test_a_submodule_whose_commit_is_missing_stays_empty(nest: WorkspaceRepo) -> None:
    nest.git("update-index", "--cacheinfo", f"160000,{'1' * 40},lib")
    nest.git("commit", "--quiet", "-m", "a commit that nobody has")
    told: list[str] = []
    workspace = nest.open(told=told.append).prepare("7f3a", "one", nest.head, _PLAIN, top=str(nest.top))
    assert (Path(workspace) / "README").exists()
    assert "lib" in told[0]


def test_a_clone_inside_the_checkout_is_used(nest: WorkspaceRepo, tmp_path: Path) -> None:
    """As git had them in the old days: with a git folder of their own, in their place."""
    nest.git("clone", "--quiet", str(nest.common / "modules/the/lib"), str(tmp_path / "own"))
    nest.git("clone", "--quiet", str(nest.top), str(tmp_path / "fresh"))
    nest.top = tmp_path / "fresh"
    (nest.top / "lib").rmdir()
    (tmp_path / "own").rename(nest.top / "lib")
    workspace = nest.prepare()
    assert (workspace / "lib/library").read_text() == "library\n"


@pytest.mark.parametrize("path", ["../escape", "/absolute"])
def test_a_submodule_with_a_path_outside_is_skipped(ground: WorkspaceRepo, tmp_path: Path, path: str) -> None:
    ground.commit({".gitmodules": f'[submodule "x"]\n\tpath = {path}\n\turl = {tmp_path}\n'})
    workspace = ground.prepare()
    assert ground.status(workspace) == ""
    assert not (workspace.parent / "escape").exists()
