from __future__ import annotations

from pathlib import Path

import pytest

from plait.testing.taskfiles import Checkout


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout.at(tmp_path)
