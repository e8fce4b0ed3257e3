"""A yard: a real repository with real tasks, verbs as processes of their own, and everything ended that was begun in it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import TypeVar

import psutil
from tests.support.cli_runner import CliResult
from tests.support.temp_project__path import remove_agents_from_path
from tests.support.terminal import Terminal

from plait.client.project_sources import read_past_batches
from plait.core.state import BatchState, State
from plait.git.location import find_repo

PROJECT_VARIABLE = "YARD"
TIMEOUT_SECONDS = 60.0  # seconds: no test waits that long for something that comes
_POLL_SECONDS = 0.02

T = TypeVar("T")


@dataclass
class TempProject:
    """`top` is the repository; home, settings and state of its own lie beside it."""

    top: Path
    env: dict[str, str]
    cli_processes: list[subprocess.Popen[str]] = field(default_factory=list)
    terminals: list[Terminal] = field(default_factory=list)

    def task(self, name: str, run: str | None = None, *, folder: str = "tasks", **front: object) -> Path:
        """A task file; `front` is its front matter, `run` its command."""
        lines = [f"{key}: {value}" for key, value in front.items()]
        if run is not None:
            lines += ["run: |", *(f"  {line}" for line in run.strip("\n").split("\n"))]
        return self.write(f"{folder}/{name}.md", "\n".join(["---", *lines, "---", f"# {name}", "", "Do it."]))

    def write(self, name: str, text: str) -> Path:
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
        return path

    def read(self, name: str) -> str:
        """What a file holds; nothing if it is not there."""
        path = self.top / name
        return path.read_text() if path.exists() else ""

    def start(self, *words: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """`plait WORDS…`, in the background and on no terminal."""
        return self.popen(plait_command(*words), env)

    def popen(self, words: Sequence[str], env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        front = subprocess.Popen(  # noqa: S603 - a test's own words
            words,
            cwd=self.top,
            env={**self.env, **(env or {})},
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.cli_processes.append(front)
        return front

    def plait(self, *words: str, env: Mapping[str, str] | None = None) -> CliResult:
        return self.finish(self.start(*words, env=env))

    def git_in(self, where: Path, *words: str) -> str:
        done = subprocess.run(  # noqa: S603 - a test's own words
            ["git", *words],  # noqa: S607 - git as it is here
            cwd=where,
            env=self.env,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    def terminal(self, *words: str) -> Terminal:
        """`plait WORDS…`, on a terminal of its own."""
        terminal = Terminal(plait_command(*words), cwd=self.top, env=self.env)
        self.terminals.append(terminal)
        return terminal

    def finish(self, front: subprocess.Popen[str]) -> CliResult:
        out, err = front.communicate(timeout=TIMEOUT_SECONDS)
        return CliResult(front.returncode, out, err)

    def state(self) -> State:
        """What the journal tells now."""
        return read_past_batches(find_repo(self.top)).state or State()

    def batch(self) -> BatchState:
        """The only batch."""
        (batch,) = self.state().batches.values()
        return batch

    def statuses(self) -> dict[str, str]:
        return {task.task.id: task.status.value if task.status else "" for task in self.batch().tasks}

    def wait_until(self, what: Callable[[], T]) -> T:
        """The first answer that is one."""
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while not (found := what()):
            if time.monotonic() > deadline:
                raise TimeoutError(f"waited {TIMEOUT_SECONDS:.0f} s for {what}")
            time.sleep(_POLL_SECONDS)
        return found

    def wait_for_file(self, name: str, holds: str = "") -> str:
        """What a file says, as soon as it is there and holds these words."""
        self.wait_until(lambda: (self.top / name).exists() and holds in self.read(name))
        return self.read(name)

    def processes(self) -> list[psutil.Process]:
        """All that descends from here, however it got away: engines, wardens, agents, what they started."""
        return [
            process for process in psutil.process_iter() if _belongs_to(process, self.env[PROJECT_VARIABLE])
        ]

    def wait_for_exit(self) -> None:
        """The engine leaves when nothing is left to do."""
        self.wait_until(lambda: not self.processes())


def plait_command(*words: str) -> list[str]:
    return [sys.executable, "-P", "-m", "plait", *words]


@contextmanager
def temp_project(folder: Path) -> Iterator[TempProject]:
    top, home = folder / "repository", folder / "home"
    home.mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", "-b", "main", str(top)], check=True)  # noqa: S603, S607 - fixed words
    made = TempProject(top, _project_environment(home))
    try:
        yield made
    finally:
        _end_project(made)


def _project_environment(home: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PLAIT_", "XDG_"))}
    folders = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "STATE", "CACHE", "DATA")}
    # Where tasks work is said by the tests that are about it; the others see what they do in the checkout.
    return {
        **kept,
        **folders,
        "PATH": remove_agents_from_path(kept.get("PATH", os.defpath)),
        "HOME": str(home),
        "COLUMNS": "100",
        "PLAIT_ISOLATION": "in-place",
        PROJECT_VARIABLE: token_hex(8),
    }


def _belongs_to(process: psutil.Process, mark: str) -> bool:
    try:
        return process.environ().get(PROJECT_VARIABLE) == mark and process.status() != psutil.STATUS_ZOMBIE
    except (psutil.Error, OSError):  # it is gone, or somebody else's
        return False


def _end_project(made: TempProject) -> None:
    """Whatever a test left, also a failed one: what is killed may have just begun something, hence more than once."""
    while left := made.processes():
        for process in left:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        time.sleep(_POLL_SECONDS)
    for front in made.cli_processes:
        front.communicate()
    for terminal in made.terminals:
        terminal.process.wait()
        terminal.close()
