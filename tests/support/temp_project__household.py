"""A household: a folder of tasks with a home of its own, in which real `plait` processes run and leave nothing behind.

Everything that is started in it carries a variable that names it, so that it can be found, counted and ended.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from tests.support.temp_project__path import remove_agents_from_path

from plait.core.events import Record
from plait.git.location import find_repo
from plait.store.journal_reader import open_journal_reader
from plait.store.project_files import JOURNAL_FILE, find_engine

_ROOT_VARIABLE = "PLAIT_HOUSEHOLD"


class EngineProject:
    """`user` is whose home it has: households of one user share what engines share."""

    def __init__(self, root: Path, *, repository: bool = True, user: EngineProject | None = None) -> None:
        self.root = root
        self.top = root / "work"
        self.top.mkdir(parents=True)
        self.env = _household_environment(root, user.root / "home" if user else root / "home")
        if repository:
            for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "begin"]):
                subprocess.run(["git", *words], cwd=self.top, env=self.env, check=True)  # noqa: S603, S607 - git as it is here
        self.place = find_repo(self.top)

    def task(self, name: str, run: str, *, front: str = "", folder: str = "tasks") -> None:
        """A task file for the shell agent; `front` are more lines of front matter."""
        path = self.top / folder / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        script = "".join(f"  {line}\n" for line in run.splitlines())
        path.write_text(f"---\n{front}run: |\n{script}---\n# {name}\n")

    def plait(self, *words: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        return subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-m", "plait", *words],
            cwd=self.top,
            env={**self.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(
        self, *words: str, timeout: float = 60.0, env: Mapping[str, str] | None = None
    ) -> tuple[int, str]:
        """The exit code and all that was said."""
        process = self.plait(*words, env=env)
        try:
            out, _ = process.communicate(timeout=timeout)
        except BaseException:
            process.kill()
            process.communicate()
            raise
        return process.returncode, out

    def find_engine(self) -> int | None:
        """The process that holds the lease."""
        info = find_engine(self.place)
        return info.pid or None if info else None

    def read_engine_log(self) -> str:
        with suppress(FileNotFoundError):
            return (self.place.state / "engine.log").read_text()
        return ""

    def read_records(self) -> list[Record]:
        with closing(open_journal_reader(self.place.state / JOURNAL_FILE)) as reader:
            return list(reader.read())

    def processes(self) -> list[int]:
        """Everything that was started in here and is still alive, zombies apart."""
        return [pid for pid in _process_ids() if self._is_ours(pid)]

    def wait_for_exit(self, timeout: float = 30.0) -> list[int]:
        """Wait until nothing of it runs any more; what still does is returned."""
        deadline = time.monotonic() + timeout
        while left := self.processes():
            if time.monotonic() > deadline:
                break
            time.sleep(0.05)
        return left

    def kill_processes(self) -> None:
        while left := self.processes():
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.01)

    def _is_ours(self, pid: int) -> bool:
        if pid == os.getpid():
            return False
        with suppress(OSError):
            mark = f"{_ROOT_VARIABLE}={self.root}".encode()
            return mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        return False


@contextmanager
def engine_project(
    root: Path, *, repository: bool = True, user: EngineProject | None = None
) -> Iterator[EngineProject]:
    made = EngineProject(root, repository=repository, user=user)
    try:
        yield made
    finally:
        made.kill_processes()


def _household_environment(root: Path, home: Path) -> dict[str, str]:
    """The tests' own, without settings for plait and without a home that would be touched."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PLAIT_", "XDG_", "GIT_"))
    }
    home.mkdir(parents=True, exist_ok=True)
    who = {
        f"GIT_{role}_{part}": "t@example.com"
        for role in ("AUTHOR", "COMMITTER")
        for part in ("NAME", "EMAIL")
    }
    # Where tasks work is said by the tests that are about it; the others see what they do in the checkout.
    place = {"HOME": str(home), "PLAIT_ISOLATION": "in-place"}
    path = {"PATH": remove_agents_from_path(kept.get("PATH", os.defpath))}
    return {**kept, **who, **place, **path, "NO_COLOR": "1", _ROOT_VARIABLE: str(root)}


def _process_ids() -> Iterator[int]:
    """Linux tells all; elsewhere psutil would."""
    return (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
