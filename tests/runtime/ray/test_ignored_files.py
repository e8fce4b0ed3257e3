"""The folder that stands for the engine's checkout on a node."""

from __future__ import annotations

from pathlib import Path

import pytest

from plait.core.errors import WorldError
from plait.git.interfaces import WorkspaceSetup
from plait.runtime.ray.ignored_files import pack_ignored_files, unpack_ignored_files
from tests.support.git_repository import GitRepository


@pytest.fixture
def archive(tmp_path: Path) -> bytes:
    repository = GitRepository(tmp_path / "repository")
    repository.commit({".gitignore": "private.txt\n"})
    (repository.top / "private.txt").write_text("private")
    data = pack_ignored_files(repository.top, WorkspaceSetup(copy=("private.txt",)))
    assert data is not None
    return data


def test_it_is_made_once_for_each_batch(tmp_path: Path, archive: bytes) -> None:
    """Attempts may be using what is there."""
    checkout = tmp_path / "node" / "batch"
    unpack_ignored_files(checkout, archive)
    assert (checkout / "private.txt").read_text() == "private"
    (checkout / "private.txt").write_text("in use")
    unpack_ignored_files(checkout, archive)
    assert (checkout / "private.txt").read_text() == "in use"


def test_half_a_folder_is_none(tmp_path: Path, archive: bytes) -> None:
    checkout = tmp_path / "node" / "batch"
    with pytest.raises(WorldError, match="can't be unpacked"):
        unpack_ignored_files(checkout, archive[: len(archive) // 2])
    assert [*checkout.parent.iterdir()] == []
    unpack_ignored_files(checkout, archive)
    assert (checkout / "private.txt").exists()
