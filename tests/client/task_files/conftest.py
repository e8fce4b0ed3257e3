from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.task_files import Checkout


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout.at(tmp_path)
