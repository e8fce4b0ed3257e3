"""What is installed from npm for the tests is what was looked at: each package by its hash."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("folder", ["realagents/cli", "forges/openapi"])
def test_every_package_has_a_hash(folder: str) -> None:
    packages = json.loads((TESTS / folder / "package-lock.json").read_text())["packages"]
    assert [name for name, told in packages.items() if name and not told.get("integrity")] == []
