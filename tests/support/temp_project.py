"""A PATH without coding tools: what tests see does not depend on what is installed on their machine.

The environment of this process, for a while.

A project: a real repository with real tasks, verbs as processes of their own, and everything ended that was begun in it.

A project: a project whose tasks have worktrees, with a remote, and eyes on everything that is the person's own.

A project: a folder of tasks with a home of its own, in which real `plait` processes run and leave nothing behind.

Everything that is started in it carries a variable that names it, so that it can be found, counted and ended.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from secrets import token_hex
from typing import TypeVar

import psutil

from plait.agents.table import AGENTS
from plait.client.project_state import read_past_batches
from plait.core.events import Record
from plait.core.state import BatchState, State
from plait.engine.daemon import find_engine
from plait.git.location import find_repo
from plait.store.journal_reader import open_journal_reader
from plait.store.project_files import JOURNAL_FILE
from tests.support.cli_runner import CliResult
from tests.support.terminal import Terminal

_AGENT_PROGRAMS = frozenset(known.program for known in AGENTS.values() if known.program)


def remove_agents_from_path(path: str) -> str:
    """The same PATH; a folder that holds a coding tool is replaced by one with links to all else that is in it."""
    return os.pathsep.join(_link_other_programs(folder) for folder in path.split(os.pathsep) if folder)


@cache
def _link_other_programs(folder: str) -> str:
    if not any(os.path.lexists(os.path.join(folder, name)) for name in _AGENT_PROGRAMS):  # noqa: PTH118 - thousands of times
        return folder
    links = Path(tempfile.mkdtemp(prefix="plait-path-"))
    for program in Path(folder).iterdir():
        if program.name not in _AGENT_PROGRAMS:
            (links / program.name).symlink_to(program)
    return str(links)


@contextmanager
def use_environment(env: Mapping[str, str]) -> Iterator[None]:
    """These variables and no others: what is started from here belongs to whom they belong to."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(env)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


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
        front = subprocess.Popen(  # a test's own words
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
        done = subprocess.run(  # a test's own words
            ["git", *words],  # git as it is here
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
        return [process for process in psutil.process_iter() if _belongs_to(process, self.env[PROJECT_VARIABLE])]

    def wait_for_exit(self) -> None:
        """The engine leaves when nothing is left to do."""
        self.wait_until(lambda: not self.processes())


def plait_command(*words: str) -> list[str]:
    return [sys.executable, "-P", "-m", "plait", *words]


@contextmanager
def temp_project(folder: Path) -> Iterator[TempProject]:
    top, home = folder / "repository", folder / "home"
    home.mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet", "-b", "main", str(top)], check=True)  # fixed words
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


@dataclass
class WorktreeProject(TempProject):
    """`remote` is bare, and origin. Nothing is committed before `begin`."""

    remote: Path = Path()

    def git(self, *words: str) -> str:
        return self.git_in(self.top, *words)

    def commit_all(self) -> str:
        """All that was written so far is the first commit, and the remote has it. Its id."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "begin")
        self.git("push", "--quiet", "origin", "HEAD:main")
        return self.git("rev-parse", "HEAD")

    @property
    def branch(self) -> str:
        return self.batch().branch

    def read_merged_files(self) -> dict[str, str]:
        """What the batch branch holds beside the tasks, by path."""
        names = self.git("ls-tree", "-r", "--name-only", self.branch).splitlines()
        return {name: self.git("show", f"{self.branch}:{name}") for name in names if not name.startswith("tasks/")}

    def snapshot_user_files(self) -> dict[str, object]:
        """Everything that is the person's: files, index, HEAD, branches, stash, settings."""
        git = self.top / ".git"
        files = (path for path in self.top.rglob("*") if git not in path.parents and path != git)
        mine = {
            str(path.relative_to(self.top)): (path.lstat().st_mode, path.read_bytes())
            for path in files
            if path.is_file()
        }
        inside = {name: (git / name).read_bytes() for name in ("index", "HEAD", "config")}
        hooks = sorted(path.name for path in (git / "hooks").iterdir())
        refs = [line for line in self.git("for-each-ref").splitlines() if "/plait/" not in line]
        return {**mine, **inside, "hooks": hooks, "refs": refs, "stash": self.git("stash", "list")}

    def find_leftovers(self) -> list[str]:
        """Worktrees in use, temporary things and locks of git's: nothing, once all is over."""
        git = self.top / ".git"
        home = Path(self.env["XDG_CACHE_HOME"]) / "plait" / "worktrees"
        used = [str(path) for path in home.glob("*/batch-*/*")]
        half = [str(path) for path in (*home.glob("*/making/*"), *home.glob("*/trash/*"))]
        locks = [str(path) for path in git.rglob("*.lock") if git / "plait" not in path.parents]
        return [*used, *half, *locks]


@contextmanager
def worktree_project(folder: Path) -> Iterator[WorktreeProject]:
    with temp_project(folder) as plain:
        remote = folder / "remote.git"
        env = {
            **plain.env,
            "PLAIT_ISOLATION": "worktree",
            "GIT_CONFIG_GLOBAL": str(folder / "home" / "gitconfig"),
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        made = WorktreeProject(plain.top, env, plain.cli_processes, plain.terminals, remote)
        (folder / "home" / "gitconfig").write_text("[user]\n\tname = Somebody\n\temail = somebody@example.org\n")
        made.git("init", "--quiet", "--bare", "--initial-branch=main", str(remote))
        made.git("remote", "add", "origin", str(remote))
        yield made


_ROOT_VARIABLE = "PLAIT_HOUSEHOLD"


class EngineProject:
    """`user` is whose home it has: projects of one user share what engines share."""

    def __init__(self, root: Path, *, repository: bool = True, user: EngineProject | None = None) -> None:
        self.root = root
        self.top = root / "work"
        self.top.mkdir(parents=True)
        self.env = _household_environment(root, user.root / "home" if user else root / "home")
        if repository:
            for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "begin"]):
                subprocess.run(["git", *words], cwd=self.top, env=self.env, check=True)  # git as it is here
        self.place = find_repo(self.top)

    def task(self, name: str, run: str, *, front: str = "", folder: str = "tasks") -> None:
        """A task file for the shell agent; `front` are more lines of front matter."""
        path = self.top / folder / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        script = "".join(f"  {line}\n" for line in run.splitlines())
        path.write_text(f"---\n{front}run: |\n{script}---\n# {name}\n")

    def plait(self, *words: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        return subprocess.Popen(  # our own program
            [sys.executable, "-m", "plait", *words],
            cwd=self.top,
            env={**self.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str, timeout: float = 60.0, env: Mapping[str, str] | None = None) -> tuple[int, str]:
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
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PLAIT_", "XDG_", "GIT_"))}
    home.mkdir(parents=True, exist_ok=True)
    who = {f"GIT_{role}_{part}": "t@example.com" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")}
    # Where tasks work is said by the tests that are about it; the others see what they do in the checkout.
    place = {"HOME": str(home), "PLAIT_ISOLATION": "in-place"}
    path = {"PATH": remove_agents_from_path(kept.get("PATH", os.defpath))}
    return {**kept, **who, **place, **path, "NO_COLOR": "1", _ROOT_VARIABLE: str(root)}


def _process_ids() -> Iterator[int]:
    """Linux tells all; elsewhere psutil would."""
    return (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())
