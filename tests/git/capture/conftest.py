from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.task_worktree import TaskWorktree


@pytest.fixture
def worktree(tmp_path: Path) -> TaskWorktree:
    return TaskWorktree.create(tmp_path)
