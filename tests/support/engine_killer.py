"""Killing whoever is there, at random instants, while a project's batch goes on; and seeing to it that it goes on."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from subprocess import Popen

import psutil

from plait.engine.daemon import find_engine
from plait.git.location import find_repo
from plait.store.project_files import JOURNAL_FILE
from tests.support.temp_project import TempProject
from tests.support.waiting import TIMEOUT_SECONDS

_POLL_SECONDS = 0.002
_MAX_DELAY_SECONDS = 0.4  # seconds from something that happened to the kill
_BRANCH_WAIT_SECONDS = 5.0  # seconds in which a branch may move


class EngineKiller:
    """`count` of `wanted` kills so far, `engines` of them of engines."""

    def __init__(self, project: TempProject, chance: Random, wanted: int) -> None:
        self._project = project
        self._chance = chance
        self.wanted = wanted
        self.count = 0
        self.engines = 0

    @property
    def is_done(self) -> bool:
        return self.count >= self.wanted

    def kill_random(self, front: Popen[str]) -> None:
        """Wait for a random instant, and kill the engine, the engine with every git it runs, the front, or all of them."""
        self._wait_for_instant(front)
        whom = self._chance.choice(("engine", "engine", "gits", "front", "both"))
        if whom != "front":
            self.kill_engine(gits=whom == "gits")
        if whom in {"front", "both"} and front.poll() is None:
            self.count += 1
            front.kill()

    def kill_engine_at_random(self, front: Popen[str]) -> None:
        """The front goes on, and so does the batch if the front sees to it."""
        self._wait_for_instant(front)
        self.kill_engine(gits=self._chance.random() < 0.3)

    def kill_engine(self, *, gits: bool = False) -> None:
        info = find_engine(find_repo(self._project.top))
        if info is None or not info.pid:
            return
        below = _find_git_children(info.pid) if gits else []
        with suppress(ProcessLookupError):
            os.kill(info.pid, signal.SIGKILL)
            self.count += 1
            self.engines += 1
        for git in below:
            with suppress(psutil.NoSuchProcess):
                git.kill()

    def _wait_for_instant(self, front: Popen[str]) -> None:
        """Of a start now and then; mostly of work, after something has happened since the last kill.

        Between a branch that was moved and the record that says so there is hardly a moment: it is looked for.
        """
        place = find_repo(self._project.top).state
        journal, branches = place / f"{JOURNAL_FILE}-wal", place.parent / "refs" / "heads" / "plait"
        what = self._chance.choice(("start", "journal", "journal", "journal", "branches"))
        if what == "branches":
            self._wait_for_change(front, branches, _BRANCH_WAIT_SECONDS)
            return
        if what == "journal":
            self._wait_for_change(front, journal, TIMEOUT_SECONDS)
        time.sleep(self._chance.uniform(0.0, _MAX_DELAY_SECONDS))  # a random instant is the point

    def _wait_for_change(self, front: Popen[str], path: Path, patience: float) -> None:
        before, deadline = _file_stamp(path), time.monotonic() + patience
        while front.poll() is None and time.monotonic() < deadline and _file_stamp(path) == before:
            time.sleep(_POLL_SECONDS)


def resume_until(project: TempProject, over: Callable[[], bool], front: Callable[[], Popen[str]]) -> None:
    """Whoever comes back takes up what was left, until all is over and the engine has gone home."""
    deadline = time.monotonic() + TIMEOUT_SECONDS
    while not (over() and not project.processes()):
        assert time.monotonic() < deadline, "it does not come to an end"
        if find_engine(find_repo(project.top)) is None and not over():
            project.finish(front())
        time.sleep(10 * _POLL_SECONDS)


def _find_git_children(pid: int) -> list[psutil.Process]:
    """Agents and their wardens are nobody's children."""
    with suppress(psutil.NoSuchProcess):
        return [child for child in psutil.Process(pid).children(recursive=True) if child.name() == "git"]
    return []


def _file_stamp(path: Path) -> tuple[int, int] | None:
    """Changes whenever something is written there."""
    with suppress(OSError):
        found = path.stat()
        return found.st_mtime_ns, found.st_size
    return None
