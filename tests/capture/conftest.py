from __future__ import annotations

from pathlib import Path

import pytest
from tests.support.task_worktree import Plot


@pytest.fixture
def plot(tmp_path: Path) -> Plot:
    return Plot.at(tmp_path)
