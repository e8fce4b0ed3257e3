from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.git.location import RepoLocation, find_repo
from tests.support.cli_runner import Say, ask
from tests.support.journal_writer import JournalWriter
from tests.support.stub_engine import StubEngines, stub_engines


@pytest.fixture
def place(tmp_path: Path) -> RepoLocation:
    """A folder without a repository."""
    return find_repo(tmp_path)


@pytest.fixture
def writer(place: RepoLocation) -> JournalWriter:
    return JournalWriter(place)


@pytest.fixture
def engines(place: RepoLocation) -> Iterator[StubEngines]:
    with stub_engines(place) as made:
        yield made


@pytest.fixture
def say(place: RepoLocation, capsys: pytest.CaptureFixture[str]) -> Say:
    return lambda *words: ask(capsys, place.top, *words)
