from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.temp_project import TempProject, temp_project as make


@pytest.fixture
def project(tmp_path: Path) -> Iterator[TempProject]:
    with make(tmp_path, worktrees=True) as made:
        yield made
