from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.contest_project import ContestProject, contest_project as make
from tests.support.referee_process import RefereeProcess


@pytest.fixture
def contest_project(tmp_path: Path) -> Iterator[ContestProject]:
    with make(tmp_path) as made:
        yield made


@pytest.fixture
def referee(tmp_path: Path) -> RefereeProcess:
    return RefereeProcess(tmp_path)
