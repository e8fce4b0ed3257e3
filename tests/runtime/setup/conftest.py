"""A checkout and a worktree of it, made with plain git, and processes that fit the worktree out."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from plait.git.interfaces import WorkspaceSetup
from plait.git.worktrees import metadata
from plait.runtime.setup import preparation, setup_command
from plait.runtime.setup.setup_command import MIN_FREE_BYTES, SetupSpec
from tests.support.leaked_processes import kill_leaked_processes
from tests.support.waiting import TIMEOUT_SECONDS

DONE = ("sh", "-c", "echo the agent runs")
IDENTITY = {
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


@dataclass(frozen=True, slots=True)
class Ended:
    code: int
    out: str
    failure: str | None


@dataclass(frozen=True)
class SetupHarness:
    """A checkout at `top`, worktrees of it beside it, and a cache."""

    root: Path
    top_name: str = "checkout"
    cache_name: str = "cache"
    running: list[subprocess.Popen[str]] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=lambda: {**os.environ, **IDENTITY})

    @property
    def top(self) -> Path:
        return self.root / self.top_name

    @property
    def cache(self) -> Path:
        return self.root / self.cache_name

    def git(self, *words: str, where: Path | None = None) -> str:
        done = subprocess.run(
            ["git", *words],
            cwd=where or self.top,
            env=self.environment,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.rstrip("\n")

    def write(self, path: str, text: str = "", *, mode: int = 0o644) -> Path:
        file = self.top / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)
        return file

    def commit(self, *paths: str) -> None:
        self.git("add", "--force", *paths)
        self.git("commit", "-q", "-m", "more")

    def worktree(self, name: str = "work") -> Path:
        path = self.root / name
        self.git("worktree", "add", "-q", "--detach", str(path))
        return path

    def build_spec(self, workspace: Path, setup: WorkspaceSetup, spare: int = MIN_FREE_BYTES) -> SetupSpec:
        failed = self.root / f"{workspace.name}.failed"
        return setup_command.build_spec(
            setup, workspace=workspace, top=self.top, cache=self.cache, failed=failed, spare=spare
        )

    def start(
        self,
        workspace: Path,
        setup: WorkspaceSetup,
        *argv: str,
        spare: int = MIN_FREE_BYTES,
        stdin: int = subprocess.DEVNULL,
        prefix: tuple[str, ...] = (),
    ) -> subprocess.Popen[str]:
        spec_file = self.root / f"{workspace.name}.json"
        setup_command.write_spec(spec_file, self.build_spec(workspace, setup, spare))
        process = subprocess.Popen(
            [*prefix, *setup_command.build_setup_command(spec_file), *(argv or DONE)],
            cwd=workspace,
            env=self.environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.running.append(process)
        return process

    def fit(
        self,
        workspace: Path,
        setup: WorkspaceSetup,
        *argv: str,
        spare: int = MIN_FREE_BYTES,
        prefix: tuple[str, ...] = (),
    ) -> Ended:
        return self.end(workspace, self.start(workspace, setup, *argv, spare=spare, prefix=prefix))

    def end(self, workspace: Path, process: subprocess.Popen[str]) -> Ended:
        out, _ = process.communicate(timeout=TIMEOUT_SECONDS)
        self.running.remove(process)
        return Ended(process.returncode, out, setup_command.read_failure(self.root / f"{workspace.name}.json"))

    def kill(self, workspace: Path, process: subprocess.Popen[str]) -> Ended:
        """With all that it started: it has not been waited for, so the group is its own."""
        os.killpg(process.pid, signal.SIGKILL)
        return self.end(workspace, process)

    def wanted(self, workspace: Path, setup: WorkspaceSetup) -> bool:
        return preparation.is_setup_needed(self.build_spec(workspace, setup))

    def until(self, true: Callable[[], bool]) -> None:
        """Wait for it."""
        last = time.monotonic() + TIMEOUT_SECONDS
        while not true():
            assert time.monotonic() < last, "it never happened"
            time.sleep(0.002)

    def ours(self, workspace: Path) -> set[str]:
        return {*metadata.read_setup_metadata(workspace).ours}

    def status(self, workspace: Path) -> str:
        return self.git("status", "--porcelain", "--untracked-files=all", where=workspace)


@pytest.fixture
def humble() -> tuple[str, ...]:
    """Words before a command that make the modes of files count, even for root."""
    if os.geteuid() != 0:
        return ()
    if shutil.which("setpriv") is None:
        pytest.skip("modes of files do not count for root")
    return ("setpriv", "--bounding-set=-dac_override,-dac_read_search,-fowner")


@pytest.fixture
def harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SetupHarness]:
    for name, value in IDENTITY.items():
        monkeypatch.setenv(name, value)
    made = SetupHarness(tmp_path)
    made.top.mkdir()
    made.git("init", "-q")
    made.write(".gitignore", ".env*\nnode_modules/\ndata/\nout/\n*.log\n")
    made.write("code.txt", "code\n")
    made.commit(".gitignore", "code.txt")
    yield made
    if made.running:
        kill_leaked_processes(tmp_path)
