from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.forked_jobs import Forks
from tests.support.model_job_bench import Workbench, workbench


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    with Forks() as made:
        yield made


@pytest.fixture
def bench(tmp_path: Path, forks: Forks) -> Iterator[Workbench]:
    with workbench(tmp_path, forks) as made:
        yield made
