from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.temp_project import Yard, yard as make


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    with make(tmp_path) as made:
        yield made
