from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.engine_harness import EngineHarness
from tests.support.git_repository import GitRepository


@pytest.fixture
def harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EngineHarness]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "user"))
    made = EngineHarness(tmp_path)
    yield made
    made.close()


@pytest.fixture
def repository(harness: EngineHarness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GitRepository:
    """The harness has a repository, and its engines' attempts work in worktrees."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return harness.add_repository()
