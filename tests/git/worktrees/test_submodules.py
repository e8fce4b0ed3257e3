"""Submodules of a workspace come from the user's clones of them, and the user's configuration is not touched."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plait.git.interfaces import WorkspaceSetup
from plait.git.worktrees.sandbox_view import build_view

if TYPE_CHECKING:
    from tests.git.worktrees.conftest import WorkspaceRepo


_PLAIN = WorkspaceSetup()


@pytest.fixture
def submodule_repo(repo: WorkspaceRepo, tmp_path: Path) -> WorkspaceRepo:
    """A project with a library in it, which has another in it; where they came from is gone."""
    allow = ("-c", "protocol.file.allow=always")
    for name in ("inner", "library"):
        repo.git("init", "--quiet", str(tmp_path / name))
        repo.commit({name: f"{name}\n"}, at=tmp_path / name)
    repo.git(*allow, "submodule", "--quiet", "add", str(tmp_path / "inner"), "in side", at=tmp_path / "library")
    repo.commit({}, at=tmp_path / "library")
    repo.git(*allow, "submodule", "--quiet", "add", "--name", "the/lib", str(tmp_path / "library"), "lib")
    repo.git(*allow, "submodule", "--quiet", "update", "--init", "--recursive")
    repo.commit({})
    for name in ("inner", "library"):
        (tmp_path / name).rename(tmp_path / f"{name} is gone")
    return repo


def _modules(repo: WorkspaceRepo) -> dict[str, bytes]:
    """The configuration of the user's submodules."""
    return {str(each): each.read_bytes() for each in (repo.common / "modules").rglob("config")}


def test_submodules_are_filled_without_a_network(submodule_repo: WorkspaceRepo) -> None:
    before = submodule_repo.snapshot_user_files(), _modules(submodule_repo)
    workspace = submodule_repo.prepare()
    assert (workspace / "lib/library").read_text() == "library\n"
    assert (workspace / "lib/in side/inner").read_text() == "inner\n"
    assert submodule_repo.status(workspace) == ""
    submodule_repo.git("submodule", "update", "--recursive", at=workspace)  # as an agent may
    assert submodule_repo.git("submodule", "status", at=submodule_repo.top)
    assert (submodule_repo.snapshot_user_files(), _modules(submodule_repo)) == before


def test_work_in_a_submodule_is_saved(submodule_repo: WorkspaceRepo) -> None:
    before = submodule_repo.snapshot_user_files(), _modules(submodule_repo)
    workspace = submodule_repo.prepare()
    tip = submodule_repo.commit({"made": "m\n"}, at=workspace / "lib")
    submodule_repo.write({"made": "and changed\n"}, at=workspace / "lib")
    submodule_repo.write({"new": "n\n"}, at=workspace / "lib/in side")
    submodule_repo.release()
    assert not workspace.exists()
    assert submodule_repo.list_pooled() == []  # it would have to be moved with all of them
    held = {each: submodule_repo.git("ls-tree", "--name-only", each).split() for each in submodule_repo.list_saved()}
    (saved,) = [each for each, names in held.items() if "made" in names]
    assert submodule_repo.text(saved, "made") == "and changed"
    assert submodule_repo.git("merge-base", tip, saved) == tip
    assert sum("new" in names for names in held.values()) == 1
    assert (submodule_repo.snapshot_user_files(), _modules(submodule_repo)) == before
    assert submodule_repo.status(submodule_repo.prepare("two")) == ""


def test_an_unchanged_submodule_leaves_nothing_to_save(submodule_repo: WorkspaceRepo) -> None:
    submodule_repo.prepare()
    submodule_repo.release()
    assert submodule_repo.list_saved() == []


def test_a_submodule_without_a_clone_stays_empty_and_is_reported(submodule_repo: WorkspaceRepo, tmp_path: Path) -> None:
    submodule_repo.git("clone", "--quiet", str(submodule_repo.top), str(tmp_path / "fresh"))
    submodule_repo.top = tmp_path / "fresh"
    messages: list[str] = []
    before = submodule_repo.snapshot_user_files()
    workspace = submodule_repo.open(on_warning=messages.append).prepare(
        "7f3a", "one", submodule_repo.head, _PLAIN, top=str(submodule_repo.top)
    )
    assert list((Path(workspace) / "lib").iterdir()) == []
    assert submodule_repo.status(Path(workspace)) == ""
    (line,) = messages
    assert "lib" in line
    assert "git submodule update --init" in line
    assert submodule_repo.snapshot_user_files() == before


def test_a_submodule_whose_commit_is_missing_stays_empty(submodule_repo: WorkspaceRepo) -> None:
    submodule_repo.git("update-index", "--cacheinfo", f"160000,{'1' * 40},lib")
    submodule_repo.git("commit", "--quiet", "-m", "a commit that is in no clone")
    messages: list[str] = []
    workspace = submodule_repo.open(on_warning=messages.append).prepare(
        "7f3a", "one", submodule_repo.head, _PLAIN, top=str(submodule_repo.top)
    )
    assert (Path(workspace) / "README").exists()
    assert "lib" in messages[0]


def test_a_clone_inside_the_checkout_is_used(submodule_repo: WorkspaceRepo, tmp_path: Path) -> None:
    """As git had them in the old days: with a git folder of their own, in their place."""
    submodule_repo.git("clone", "--quiet", str(submodule_repo.common / "modules/the/lib"), str(tmp_path / "own"))
    submodule_repo.git("clone", "--quiet", str(submodule_repo.top), str(tmp_path / "fresh"))
    submodule_repo.top = tmp_path / "fresh"
    (submodule_repo.top / "lib").rmdir()
    (tmp_path / "own").rename(submodule_repo.top / "lib")
    workspace = submodule_repo.prepare()
    assert (workspace / "lib/library").read_text() == "library\n"


@pytest.mark.parametrize("path", ["../escape", "/absolute"])
def test_a_submodule_with_a_path_outside_is_skipped(repo: WorkspaceRepo, tmp_path: Path, path: str) -> None:
    repo.commit({".gitmodules": f'[submodule "x"]\n\tpath = {path}\n\turl = {tmp_path}\n'})
    workspace = repo.prepare()
    assert repo.status(workspace) == ""
    assert not (workspace.parent / "escape").exists()


# -- after a sandboxed command: its view is in the gitdir


def view_and_replace(repo: WorkspaceRepo, workspace: Path, proof: Path) -> None:
    """The repositories of all submodules by copies whose settings name programs that git runs in them."""
    build_view(repo.common, Path(repo.git("rev-parse", "--absolute-git-dir", at=workspace)))
    for folder in (workspace / "lib", workspace / "lib/in side"):
        gitdir = Path(repo.git("rev-parse", "--absolute-git-dir", at=folder))
        (folder / ".git").unlink()
        shutil.copytree(gitdir, folder / ".git")
        settings = folder / ".git" / "config"
        repo.git("config", "-f", str(settings), "--unset", "core.worktree", at=workspace)
        repo.git("config", "-f", str(settings), "filter.evil.clean", f"touch {proof}; cat", at=workspace)
        (folder / ".git" / "info" / "attributes").write_text("* filter=evil\n")
        for name in ("library", "inner"):
            if (folder / name).exists():
                os.utime(folder / name, (0, 0))  # so git reads it again


def test_what_a_sandboxed_gate_left_in_a_submodule_runs_nothing(submodule_repo: WorkspaceRepo, tmp_path: Path) -> None:
    folder = submodule_repo.gate(submodule_repo.head)
    view_and_replace(submodule_repo, folder, tmp_path / "ran")
    assert submodule_repo.gate(submodule_repo.head) == folder
    assert (folder / "lib/in side/inner").read_text() == "inner\n"
    assert not (tmp_path / "ran").exists()
    view_and_replace(submodule_repo, folder, tmp_path / "ran")
    submodule_repo.release_batch()
    assert not (tmp_path / "ran").exists()


def test_what_a_sandboxed_check_left_in_a_submodule_runs_nothing(submodule_repo: WorkspaceRepo, tmp_path: Path) -> None:
    workspace = submodule_repo.prepare()
    view_and_replace(submodule_repo, workspace, tmp_path / "ran")
    submodule_repo.release()
    assert not workspace.exists()
    assert not (tmp_path / "ran").exists()
