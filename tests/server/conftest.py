from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.git.location import RepoLocation
from tests.support.local_forge import REPOSITORY, LocalForge, local_forge
from tests.support.running_server import RunningServer, serve_project
from tests.support.temp_project import TempProject, temp_project as make_project, use_environment

FORGE_SETTINGS = {"PLAIT_PR_FORGE": "gitea", "PLAIT_FORGE_TOKEN": "t0ken-t0ken-t0ken", "NO_PROXY": "*"}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def location(tmp_path: Path) -> RepoLocation:
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


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("shared")
    with make_project(folder) as project, serve_project(project, folder / "projects.json") as server:
        yield server


@pytest.fixture
def server(shared_server: RunningServer) -> Iterator[RunningServer]:
    """The module's server. Its project has no files and no open batches, but the batches of earlier tests.

    Tasks run in the checkout. The engine may be running already, with the environment of an earlier test.
    """
    with use_environment(shared_server.project.env):
        yield shared_server
        shared_server.reset()


@pytest.fixture
def fresh_server(project: TempProject, tmp_path: Path) -> Iterator[RunningServer]:
    """A server and a project of the test's own, without a journal."""
    with use_environment(project.env), serve_project(project, tmp_path / "projects.json") as server:
        yield server


@pytest.fixture(scope="module")
def shared_worktree_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    folder = tmp_path_factory.mktemp("shared")
    with make_project(folder, worktrees=True) as project:
        project.env |= FORGE_SETTINGS
        with serve_project(project, folder / "projects.json") as server:
            yield server


@pytest.fixture
def worktree_server(shared_worktree_server: RunningServer) -> Iterator[RunningServer]:
    """As `server`, but tasks run in worktrees, and there is a remote. `server.project.commit_all()` comes first."""
    with use_environment(shared_worktree_server.project.env):
        yield shared_worktree_server
        shared_worktree_server.reset()


@pytest.fixture
def fresh_worktree_server(worktree_project: TempProject, tmp_path: Path) -> Iterator[RunningServer]:
    with use_environment(worktree_project.env), serve_project(worktree_project, tmp_path / "projects.json") as server:
        yield server


@pytest.fixture
def forge(tmp_path: Path, shared_worktree_server: RunningServer) -> Iterator[LocalForge]:
    project = shared_worktree_server.project
    with local_forge(tmp_path / "forge") as made:
        project.git("remote", "set-url", "origin", f"{made.url}/{REPOSITORY}.git")
        yield made
        project.git("remote", "set-url", "origin", str(project.remote))


@pytest.fixture
def forge_server(worktree_server: RunningServer, forge: LocalForge) -> RunningServer:
    """As `worktree_server`, and the remote is on the forge."""
    assert forge.url in worktree_server.project.git("remote", "get-url", "origin")
    return worktree_server
