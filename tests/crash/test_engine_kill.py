"""Engine, front end or both are killed at any instant of real batches: nothing is lost, runs twice or is left over."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from random import Random
from subprocess import Popen

import pytest

from plait.core.decisions import AttemptStarted, BatchEnded, TaskEnded
from plait.core.reports import AttemptExited, AttemptLost, EngineTaken
from plait.core.requests import Submit
from plait.core.status import TaskStatus
from plait.store.inbox import open_inbox
from plait.store.project_files import INBOX_FILE
from tests.support.laws.auditor import Auditor
from tests.support.temp_project import TempProject, temp_project

LAYERS, WIDTH = 6, 5
# A task tells that it begins and that it ends, in one write each, and takes a moment in between.
SCRIPT = """echo "begin $PLAIT_TASK_ID $PLAIT_ATTEMPT" >> "$TOLD"
sleep 0.{pause:02}
echo "end $PLAIT_TASK_ID $PLAIT_ATTEMPT" >> "$TOLD"
"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[TempProject]:
    with temp_project(tmp_path / "project", forks=False) as made:
        yield made


def test_kills_at_random_instants(project: TempProject, *, long: bool) -> None:
    kills = Kills(project, Random(2026), wanted=300 if long else 10)
    batches = 0
    while kills.count < kills.wanted:
        batches += 1
        _write_tasks(project, f"tasks{batches}", kills.chance)
        kills.run(f"tasks{batches}")
    project.wait_for_exit()
    _check(project, batches)
    taken = [record for record in project.read_records() if isinstance(record.event, EngineTaken)]
    print(f"{kills.count} kills, {kills.engines} of engines, {len(taken)} engine starts, {batches} batches")  # noqa: T201
    assert len(taken) > kills.wanted / 10, "hardly any engine started before it was killed"


class Kills:
    """Kills engines and front ends again and again while a batch runs; a killed front end is started again with --resume."""

    def __init__(self, project: TempProject, chance: Random, wanted: int) -> None:
        self.project = project
        self.chance = chance
        self.wanted = wanted
        self.count = 0
        self.engines = 0

    def run(self, folder: str) -> None:
        submitted = len(_batches(self.project))
        front = self._front(folder)
        while not self._ended(submitted):
            self._instant(front)
            if self.count < self.wanted:
                self._kill(front)
            else:
                _wait(front)
            if front.poll() is not None:
                _wait(front)
                front = self._again(folder, submitted)
        _wait(front)

    def _instant(self, front: Popen[str]) -> None:
        """Of a start now and then; mostly of work, after something has happened since the last kill."""
        if self.chance.random() < 0.8:
            before, deadline = len(_records(self.project)), time.monotonic() + 30
            while front.poll() is None and time.monotonic() < deadline and len(_records(self.project)) <= before:
                time.sleep(0.01)
        time.sleep(self.chance.uniform(0.0, 0.4))  # a random instant is the point

    def _kill(self, front: Popen[str]) -> None:
        whom = self.chance.choice(("engine", "engine", "front", "both"))
        engine = self.project.find_engine() if whom != "front" else None
        if engine:
            self.count += 1
            self.engines += 1
            with suppress(ProcessLookupError):
                os.kill(engine, signal.SIGKILL)
        if whom != "engine" and front.poll() is None:
            self.count += 1
            front.kill()
            _wait(front)

    def _again(self, folder: str, submitted: int) -> Popen[str]:
        there = len(_batches(self.project)) > submitted or _pending(self.project)
        return self._front(folder, *(["--resume"] if there else []))

    def _front(self, folder: str, *more: str) -> Popen[str]:
        env = {"TOLD": str(self.project.folder / "told")}
        return self.project.start("run", folder, "--yes", "--isolation", "in-place", "-p", "4", *more, env=env)

    def _ended(self, submitted: int) -> bool:
        return sum(isinstance(record.event, BatchEnded) for record in _records(self.project)) > submitted


def _wait(front: Popen[str]) -> None:
    if front.stdout and not front.stdout.closed:
        front.communicate(timeout=120)


def _write_tasks(project: TempProject, folder: str, chance: Random) -> None:
    for layer in range(LAYERS):
        for place in range(WIDTH):
            needs = {"needs": f"[{folder}-{layer - 1}-{chance.randrange(WIDTH)}]"} if layer else {}
            script = SCRIPT.format(pause=chance.randrange(5, 40))
            project.task(f"{folder}-{layer}-{place}", script, folder=folder, **needs)


def _records(project: TempProject) -> list:  # type: ignore[type-arg]
    with suppress(Exception):
        return project.read_records()
    return []


def _batches(project: TempProject) -> list[str]:
    return [record.event.batch for record in _records(project) if isinstance(record.event, Submit)]


def _pending(project: TempProject) -> bool:
    """Something was asked for that no engine has taken yet."""
    with suppress(Exception), closing(open_inbox(project.place.state / INBOX_FILE)) as inbox:
        return bool(inbox.pending())
    return False


def _check(project: TempProject, batches: int) -> None:
    records = project.read_records()  # the chain of checksums holds, or this raises
    auditor = Auditor(lambda _: frozenset())
    for record in records:
        auditor.observe(record)
    ends = [record.event for record in records if isinstance(record.event, TaskEnded)]
    assert Counter(end.status for end in ends) == {TaskStatus.DONE: batches * LAYERS * WIDTH}
    lines = Counter((project.folder / "told").read_text().splitlines())
    assert set(lines.values()) == {1}, "an attempt ran twice"
    began = Counter(line.split()[1] for line in lines if line.startswith("begin"))
    ended = Counter(line.split()[1] for line in lines if line.startswith("end"))
    assert began == ended, "an agent was killed"
    assert set(began.values()) == {1}, "a finished attempt ran again"
    assert len(began) == batches * LAYERS * WIDTH
    started = [record.event.attempt for record in records if isinstance(record.event, AttemptStarted)]
    over = [r.event.attempt for r in records if isinstance(r.event, AttemptExited | AttemptLost)]
    assert sorted(started) == sorted(set(over))
