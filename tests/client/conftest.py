from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.git.location import RepoLocation
from tests.support.journal_writer import JournalWriter
from tests.support.stub_engine import StubEngines, stub_engines


@pytest.fixture
def place(tmp_path: Path) -> RepoLocation:
    return RepoLocation(tmp_path, tmp_path / ".plait", repository=False)


@pytest.fixture
def writer(place: RepoLocation) -> JournalWriter:
    return JournalWriter(place)


@pytest.fixture
def engines(place: RepoLocation) -> Iterator[StubEngines]:
    with stub_engines(place) as made:
        yield made
