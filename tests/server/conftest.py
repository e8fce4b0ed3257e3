from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.git.location import RepoLocation
from tests.support.local_forge import REPOSITORY, LocalForge, local_forge
from tests.support.running_server import RunningServer, running_server as serve
from tests.support.temp_project import (
    TempProject,
    WorktreeProject,
    temp_project as make_yard,
    worktree_project as make_estate,
)


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
def yard(tmp_path: Path) -> Iterator[TempProject]:
    with make_yard(tmp_path) as made:
        yield made


@pytest.fixture
def estate(tmp_path: Path) -> Iterator[WorktreeProject]:
    with make_estate(tmp_path) as made:
        yield made


@pytest.fixture
def served(yard: TempProject, tmp_path: Path) -> Iterator[RunningServer]:
    """Tasks work in the checkout; the yard is `served.yard`."""
    with serve(yard, tmp_path / "projects.json") as made:
        yield made


@pytest.fixture
def served_estate(estate: WorktreeProject, tmp_path: Path) -> Iterator[RunningServer]:
    """Tasks have worktrees, and there is a remote. Nothing is committed before `estate.begin()`."""
    with serve(estate, tmp_path / "projects.json") as made:
        yield made


@pytest.fixture
def remote(tmp_path: Path, estate: WorktreeProject) -> Iterator[LocalForge]:
    with local_forge(tmp_path / "forge") as made:
        estate.git("remote", "set-url", "origin", f"{made.url}/{REPOSITORY}.git")
        estate.env |= {"PLAIT_PR_FORGE": "gitea", "PLAIT_FORGE_TOKEN": "t0ken-t0ken-t0ken", "NO_PROXY": "*"}
        yield made


@pytest.fixture
def session(estate: WorktreeProject, remote: LocalForge, tmp_path: Path) -> Iterator[RunningServer]:
    """As `served_estate`, and the remote is the forge's."""
    assert remote.url in estate.git("remote", "get-url", "origin")
    with serve(estate, tmp_path / "projects.json") as made:
        yield made
