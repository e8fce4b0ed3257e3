"""The folder that stands for the engine's checkout on a node."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path

import pytest

from plait.core.errors import WorldError
from plait.git.interfaces import WorkspaceSetup
from plait.runtime.ray import ignored_files
from plait.runtime.ray.ignored_files import pack_ignored_files, unpack_ignored_files
from tests.support.git_repository import GitRepository


@pytest.fixture
def archive(tmp_path: Path) -> bytes:
    repository = GitRepository(tmp_path / "repository")
    repository.commit({".gitignore": "private.txt\n"})
    (repository.top / "private.txt").write_text("private")
    return pack_ignored_files(repository.top, WorkspaceSetup(copy=("private.txt",)))


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


def test_each_name_of_a_file_with_several_is_sent(tmp_path: Path) -> None:
    """As build tools and package managers make them."""
    checkout = tmp_path / "checkout"
    GitRepository(checkout).commit({".gitignore": "built/\n"})
    (checkout / "built").mkdir()
    (checkout / "built/one").write_text("1")
    (checkout / "built/two").hardlink_to(checkout / "built/one")
    unpack_ignored_files(tmp_path / "node", pack_ignored_files(checkout, WorkspaceSetup(copy=("built",))))
    assert (tmp_path / "node/built/two").read_text() == "1"


def test_a_large_file_is_refused_before_it_is_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ignored_files, "MAX_BYTES", 1 << 20)
    checkout = tmp_path / "checkout"
    GitRepository(checkout).commit({".gitignore": "large\n"})
    with (checkout / "large").open("wb") as file:
        for _ in range(64):
            file.write(os.urandom(1 << 20))
    tracemalloc.start()
    with pytest.raises(WorldError, match="take more than 1 MB"):
        pack_ignored_files(checkout, WorkspaceSetup(copy=("large",)))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 << 20
