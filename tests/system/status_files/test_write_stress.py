"""Plait and two editors write one file as fast as they can, in processes of their own, and a fourth one looks on.

`PLAIT_STRESS_LONG=1` for more of it.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from subprocess import PIPE, Popen, TimeoutExpired
from tempfile import TemporaryDirectory
from typing import Self

import pytest

from plait.sources.formats import load_format
from plait.sources.source_model import Document, SourceFiles, SourceStatus
from plait.sources.status_changes import StatusChange
from plait.system.status_files import write_statuses

CHILD = Path(__file__).with_name("child.py")
LONG = bool(os.environ.get("PLAIT_STRESS_LONG"))
SAVES = 2_000 if LONG else 150
KILLS = 200 if LONG else 5


class Commotion:
    """The processes around one file, from their start until all have stopped."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "checkout" / "TODO.md"
        self.started: list[Popen[bytes]] = []
        assert self.start("begin").wait() == 0
        self.others: list[Popen[bytes]] = []

    def begin(self, seed: int) -> None:
        self.others += [self.start("editor", who, seed * 10 + who) for who in (1, 2)]
        self.others.append(self.start("watch"))

    def start(self, what: str, *arguments: object) -> Popen[bytes]:
        # To a file, because an unread pipe fills up.
        number = len(list(self.folder.iterdir()))
        with (self.folder / f"{what}.{number}").open("w") as file:
            self.started.append(Popen(self.command(what, *arguments), stdout=file))
        return self.started[-1]

    def command(self, what: str, *arguments: object) -> list[str]:
        return [sys.executable, str(CHILD), what, str(self.folder), *map(str, arguments)]

    def killed(self, seed: int, chance: Random) -> None:
        """A plait that lives for some writes, and dies in the middle of one."""
        with Popen(self.command("plait", seed, 1_000_000), stdout=PIPE) as process:
            assert process.stdout
            for _ in range(chance.randint(1, 6)):
                process.stdout.readline()
            with suppress(TimeoutExpired):
                process.wait(chance.random() / 10)
            process.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self.started:
            process.kill()
            process.wait()

    def stop(self) -> None:
        (self.folder / "stop").touch()
        assert [each.wait() for each in self.others] == [0, 0, 0]

    def read_output(self, what: str) -> list[str]:
        files = sorted(self.folder.glob(f"{what}.*"))
        return [line for file in files for line in file.read_text().splitlines()]

    def settle(self, marks: dict[str, SourceStatus]) -> None:
        now = datetime.now(UTC)
        changes = [StatusChange(name, mark, now, "TODO.md", f"Do part {name}") for name, mark in marks.items()]
        (writer,) = load_format("todo").writers("TODO.md", changes)
        written = write_statuses(self.path.parent, writer, changes, locks=self.folder / "locks")
        assert written.problems == ()

    def printed(self) -> dict[str, SourceStatus]:
        document = Document("TODO.md", self.path.read_text())
        entries = load_format("todo").read(SourceFiles("TODO.md", (document,))).entries
        return {entry.task.id: entry.status for entry in entries}

    def check(self, chance: Random) -> None:
        """Afterwards: no save is lost, no reader saw a partial file, every status is right."""
        self.stop()
        marks = {
            name: chance.choice([SourceStatus.TODO, SourceStatus.DONE, SourceStatus.BLOCKED]) for name in self.printed()
        }
        self.settle(marks)
        lines = Counter(self.path.read_text().splitlines())
        text = self.read_output("editor")
        removed = {line[2:] for line in text if line.startswith("- ")}
        added = {line[2:] for line in text if line.startswith("+ ")}
        assert sorted(added - removed - {*lines}) == [], "saved and lost"
        watched = self.read_output("watch")
        assert watched[:-1] == []
        assert int(watched[-1].removeprefix("seen ")) > 5
        assert self.printed() == marks
        assert [each.name for each in self.path.parent.iterdir()] == ["TODO.md"]


@pytest.fixture(params=["disk", "memory"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A disk is slow and leaves much time between two steps; memory is fast, and more happens."""
    if request.param == "disk":
        yield tmp_path
    elif not Path("/dev/shm").is_dir():
        pytest.skip("no such place")
    else:
        with TemporaryDirectory(dir="/dev/shm") as name:
            yield Path(name)


def test_concurrent_writers_lose_nothing(folder: Path) -> None:
    with Commotion(folder) as commotion:
        commotion.begin(seed=1)
        assert commotion.start("plait", 1, SAVES).wait() == 0
        assert [line for line in commotion.read_output("plait") if line.startswith("problem")] == []
        commotion.check(Random(1))


def test_concurrent_writers_lose_nothing_when_plait_is_killed(folder: Path) -> None:
    chance = Random(2)
    with Commotion(folder) as commotion:
        commotion.begin(seed=2)
        for kill in range(KILLS):
            commotion.killed(kill, chance)
        commotion.check(chance)


def test_two_plaits_write_in_turn(folder: Path) -> None:
    with Commotion(folder) as commotion:
        halves = [commotion.start("half", first) for first in (1, 2)]
        assert [half.wait() for half in halves] == [0, 0]
        assert {*commotion.printed().values()} == {SourceStatus.DONE}
        assert commotion.read_output("half") == []
