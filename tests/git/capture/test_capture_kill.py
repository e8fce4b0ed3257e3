"""A capture that ends at any instant is done again, and nothing is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

BEYOND = 200
CAPTURED = {
    "tip": "",
    "files": ["a.txt", "b.txt", "new.txt"],
    "diffstat": [3, 2, 2],
    "empty": False,
    "reverted_sources": [],  # by the first of them
    "pack": "",
}
WHOLE = {
    "captured": CAPTURED,
    "files": {"a.txt": "both", "new.txt": "new", "plan.md": "- [ ] one\n- [ ] two"},
    "parents": 2,
    "again": True,
    "kept": True,
    "saved": 1,
    "clean": True,
    "left": [],
    "trunk": True,
}


def results(folder: Path, *instants: int) -> dict[int, dict[str, object]]:
    program = Path(__file__).with_name("killed.py")
    command = [sys.executable, str(program), str(folder), *map(str, instants)]
    done = subprocess.run(command, capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    return {int(instant): result for instant, result in json.loads(done.stdout).items()}


def test_an_uninterrupted_capture_gives_the_expected_refs(tmp_path: Path) -> None:
    assert results(tmp_path, BEYOND) == {BEYOND: {**WHOLE, "killed": False}}


@pytest.mark.parametrize(
    "instants",
    [(1, 3, 7, 12, 18, 22), (25, 26, 27, 28, 29, 30), (31, 32, 33, 34, 35, 36), (41, 49, 50, 51, 52, 53)],
)
def test_a_capture_killed_at_any_instant_and_repeated_gives_the_same_result(
    tmp_path: Path, instants: tuple[int, ...]
) -> None:
    assert results(tmp_path, *instants) == {instant: {**WHOLE, "killed": True} for instant in instants}
