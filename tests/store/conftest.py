from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

Child = Callable[..., "Popen[str]"]


@pytest.fixture
def child() -> Iterator[Child]:
    """Start child.py; whatever still runs at the end is killed."""
    started: list[Popen[str]] = []

    def start(*arguments: object, through: tuple[str, ...] = ()) -> Popen[str]:
        script = str(Path(__file__).with_name("child.py"))
        command = [*through, sys.executable, script, *map(str, arguments)]
        started.append(Popen(command, stdin=PIPE, stdout=PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "journal.db"
