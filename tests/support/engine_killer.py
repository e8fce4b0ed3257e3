"""Kills engines and front ends at random moments while a batch runs, and resumes the batch afterwards."""

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
from tests.support.waiting import TIMEOUT_SECONDS, wait_until

_POLL_SECONDS = 0.002
_MAX_DELAY_SECONDS = 0.4  # from an observed change to the kill
_BRANCH_WAIT_SECONDS = 5.0  # for a branch to move


class EngineKiller:
    """`count` is the number of kills so far, `engines` how many of them were engines."""

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
        """Wait for a random moment, and kill the engine, the engine with its git processes, the front end, or both."""
        self._wait_for_instant(front)
        whom = self._chance.choice(("engine", "engine", "gits", "front", "both"))
        if whom != "front":
            self.kill_engine(gits=whom == "gits")
        if whom in {"front", "both"} and front.poll() is None:
            self.count += 1
            front.kill()

    def kill_engine_at_random(self, front: Popen[str]) -> None:
        """The front end survives, and starts another engine."""
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
        """Wait for a random moment: sometimes right after a start, mostly after the journal has grown.

        The moment between a moved branch and its record is short, so it is chosen on purpose at times.
        """
        place = find_repo(self._project.top).state
        journal, branches = place / f"{JOURNAL_FILE}-wal", place.parent / "refs" / "heads" / "plait"
        what = self._chance.choice(("start", "journal", "journal", "journal", "branches"))
        if what == "branches":
            self._wait_for_change(front, branches, _BRANCH_WAIT_SECONDS)
            return
        if what == "journal":
            self._wait_for_change(front, journal, TIMEOUT_SECONDS)
        time.sleep(self._chance.uniform(0.0, _MAX_DELAY_SECONDS))  # the moment is meant to be random

    def _wait_for_change(self, front: Popen[str], path: Path, patience: float) -> None:
        before, deadline = _file_stamp(path), time.monotonic() + patience
        while front.poll() is None and time.monotonic() < deadline and _file_stamp(path) == before:
            time.sleep(_POLL_SECONDS)


def resume_until(project: TempProject, over: Callable[[], bool], front: Callable[[], Popen[str]]) -> None:
    """Start front ends until all batches are over and the last engine has exited."""

    def has_ended() -> bool:
        if over():
            return not project.processes()
        if find_engine(find_repo(project.top)) is None:
            project.finish(front())
        return False

    wait_until(has_ended)


def _find_git_children(pid: int) -> list[psutil.Process]:
    """The git processes of an engine; agents and supervisors are not its children."""
    with suppress(psutil.NoSuchProcess):
        return [child for child in psutil.Process(pid).children(recursive=True) if child.name() == "git"]
    return []


def _file_stamp(path: Path) -> tuple[int, int] | None:
    """A value that changes with every write."""
    with suppress(OSError):
        found = path.stat()
        return found.st_mtime_ns, found.st_size
    return None
