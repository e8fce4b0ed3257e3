from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.git.location import RepoLocation
from tests.support.journal_writer import JournalWriter
from tests.support.stub_engine import StubEngines, stub_engines


@pytest.fixture
def location(tmp_path: Path) -> RepoLocation:
    return RepoLocation(tmp_path, tmp_path / ".plait", repository=False)


@pytest.fixture
def writer(location: RepoLocation) -> JournalWriter:
    return JournalWriter(location)


@pytest.fixture
def engines(location: RepoLocation) -> Iterator[StubEngines]:
    with stub_engines(location) as made:
        yield made
