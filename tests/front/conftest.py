from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.journal_writer import Scribe
from tests.support.stub_engine import Clerks, clerks

from plait.git.location import RepoLocation


@pytest.fixture
def place(tmp_path: Path) -> RepoLocation:
    return RepoLocation(tmp_path, tmp_path / ".plait", repository=False)


@pytest.fixture
def scribe(place: RepoLocation) -> Scribe:
    return Scribe(place)


@pytest.fixture
def clerk(place: RepoLocation) -> Iterator[Clerks]:
    with clerks(place) as made:
        yield made
