from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.forked_jobs import JobForker
from tests.support.model_job_bench import ModelJobBench, model_job_bench


@pytest.fixture(scope="session")
def forks() -> Iterator[JobForker]:
    with JobForker() as made:
        yield made


@pytest.fixture
def bench(tmp_path: Path, forks: JobForker) -> Iterator[ModelJobBench]:
    with model_job_bench(tmp_path, forks) as made:
        yield made
