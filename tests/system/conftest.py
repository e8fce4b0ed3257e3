from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from random import SystemRandom
from subprocess import PIPE, Popen

import pytest

Child = Callable[..., "Popen[str]"]


@pytest.fixture
def child() -> Iterator[Child]:
    """Start child.py; whatever still runs at the end is killed."""
    started: list[Popen[str]] = []

    def start(*arguments: object) -> Popen[str]:
        script = str(Path(__file__).with_name("child.py"))
        started.append(Popen([sys.executable, script, *map(str, arguments)], stdin=PIPE, stdout=PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "commons"


@pytest.fixture
def ports() -> range:
    """Two hundred free ports: twenty blocks."""
    chance = SystemRandom()
    while True:
        start = chance.randrange(10_000, 30_000, 10)
        found = range(start, start + 200)
        if all(map(_bindable, found)):
            return found


def _bindable(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0
