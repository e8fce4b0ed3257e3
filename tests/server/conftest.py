from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.git.location import RepoLocation
from tests.support.local_forge import REPOSITORY, LocalForge, local_forge
from tests.support.running_server import RunningServer, running_server as serve
from tests.support.temp_project import TempProject, temp_project as make_project


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def place(tmp_path: Path) -> RepoLocation:
    """Without a repository, and without a journal yet."""
    state = tmp_path / ".plait"
    state.mkdir()
    return RepoLocation(tmp_path, state, repository=False)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[TempProject]:
    with make_project(tmp_path) as made:
        yield made


@pytest.fixture
def worktree_project(tmp_path: Path) -> Iterator[TempProject]:
    with make_project(tmp_path, worktrees=True) as made:
        yield made


@pytest.fixture
def server(project: TempProject, tmp_path: Path) -> Iterator[RunningServer]:
    """Tasks work in the checkout; the project is `server.project`."""
    with serve(project, tmp_path / "projects.json") as made:
        yield made


@pytest.fixture
def worktree_server(worktree_project: TempProject, tmp_path: Path) -> Iterator[RunningServer]:
    """Tasks have worktrees, and there is a remote. Nothing is committed before `worktree_project.commit_all()`."""
    with serve(worktree_project, tmp_path / "projects.json") as made:
        yield made


@pytest.fixture
def remote(tmp_path: Path, worktree_project: TempProject) -> Iterator[LocalForge]:
    with local_forge(tmp_path / "forge") as made:
        worktree_project.git("remote", "set-url", "origin", f"{made.url}/{REPOSITORY}.git")
        worktree_project.env |= {"PLAIT_PR_FORGE": "gitea", "PLAIT_FORGE_TOKEN": "t0ken-t0ken-t0ken", "NO_PROXY": "*"}
        yield made


@pytest.fixture
def session(worktree_project: TempProject, remote: LocalForge, tmp_path: Path) -> Iterator[RunningServer]:
    """As `worktree_server`, and the remote is the forge's."""
    assert remote.url in worktree_project.git("remote", "get-url", "origin")
    with serve(worktree_project, tmp_path / "projects.json") as made:
        yield made
