"""Engines at once: together they never take more slots than one of them would."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from subprocess import Popen

import pytest

Child = Callable[..., Popen[str]]

LIMIT = 3


@pytest.fixture(autouse=True)
def _no_attempt_is_left(folder: Path) -> Iterator[None]:
    folder.parent.mkdir(parents=True)
    yield
    for line in (folder.parent / "attempts").read_text().splitlines():
        with suppress(ProcessLookupError):
            os.kill(int(line.split()[0]), signal.SIGKILL)


def most(process: Popen[str]) -> int:
    return int(process.communicate(timeout=100)[0])


@pytest.mark.parametrize(("engines", "turns"), [(2, 60), (10, 25)])
def test_the_limit_is_reached_and_never_exceeded(engines: int, turns: int, folder: Path, child: Child) -> None:
    crowd = [child("crowd", folder, f"/{number}", LIMIT, turns, "never") for number in range(engines)]
    assert max([most(each) for each in crowd]) == LIMIT
    assert list((folder / "engines").iterdir()) == []


def test_the_limit_is_not_exceeded_when_engines_die(folder: Path, child: Child) -> None:
    """Engines die while they hold the lock and after it; the others continue."""
    dying = [
        child("crowd", folder, f"/dying {number}", LIMIT, 15 + 5 * number, how)
        for number, how in enumerate(["in", "after"] * 2)
    ]
    lasting = [child("crowd", folder, f"/lasting {number}", LIMIT, 60, "never") for number in range(3)]
    observed = [most(each) for each in (*dying, *lasting)]
    assert [each.returncode for each in dying] == [-signal.SIGKILL] * 4
    assert [each.returncode for each in lasting] == [0] * 3
    assert max(observed) == LIMIT
