from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cluster_node import ClusterNode
from tests.support.git_repository import GitRepository


@pytest.fixture
def repository(tmp_path: Path) -> GitRepository:
    """The engine's."""
    made = GitRepository(tmp_path / "home")
    made.commit({"a.txt": "a\n", "b.txt": "b\n", "folder/c.txt": "c\n" * 200})
    return made


@pytest.fixture
def node(tmp_path: Path, repository: GitRepository) -> ClusterNode:
    return ClusterNode(tmp_path / "node", repository)
