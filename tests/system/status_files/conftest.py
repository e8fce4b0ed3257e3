from __future__ import annotations

from pathlib import Path

import pytest

from plait.system import file_exchange
from tests.support.status_file import StatusFileSetup


@pytest.fixture
def source(tmp_path: Path) -> StatusFileSetup:
    source = StatusFileSetup(tmp_path)
    source.save("# Tasks\none: pending\ntwo: pending\nthree: pending\n")
    return source


@pytest.fixture(params=["in one step", "in three steps"])
def _either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system can exchange files, and where it can't."""
    if request.param == "in three steps":
        monkeypatch.setattr(file_exchange, "_system_call", lambda: None)
