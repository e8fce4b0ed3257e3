from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.temp_project import TempProject, temp_project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[TempProject]:
    """A repository with a commit, whose tasks run in worktrees, and once."""
    with temp_project(tmp_path) as made:
        made.env |= {"PLAIT_ISOLATION": "worktree", "PLAIT_RETRIES": "0"}
        made.git("commit", "--quiet", "--allow-empty", "--message", "first")
        yield made
