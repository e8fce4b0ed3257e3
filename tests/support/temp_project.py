"""A temporary project: a real repository with a home of its own, in which real `plait` processes run.

Everything started in it carries a variable that names the project, so that it can be found, counted and ended.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from secrets import token_hex

import psutil

from plait.agents.table import AGENTS
from plait.client.project_state import read_past_batches
from plait.core.events import Record
from plait.core.state import BatchState, State
from plait.engine.daemon import find_engine
from plait.git.location import RepoLocation, find_repo
from plait.store.journal_reader import open_journal_reader
from plait.store.project_files import JOURNAL_FILE
from tests.support.cli_runner import CliResult
from tests.support.fork_server import PROJECT_VARIABLE, ForkedProcess, Order, can_fork
from tests.support.terminal import Terminal
from tests.support.waiting import TIMEOUT_SECONDS, wait_until

_AGENT_PROGRAMS = frozenset(known.program for known in AGENTS.values() if known.program)


def remove_agents_from_path(path: str) -> str:
    """The same PATH without coding tools, so that tests see only their own."""
    return remove_programs_from_path(path, _AGENT_PROGRAMS)


def remove_programs_from_path(path: str, names: frozenset[str]) -> str:
    """A folder that holds one of these programs is replaced by one with links to everything else in it."""
    return os.pathsep.join(_link_other_programs(folder, names) for folder in path.split(os.pathsep) if folder)


@cache
def _link_other_programs(folder: str, names: frozenset[str]) -> str:
    if not any(os.path.lexists(os.path.join(folder, name)) for name in names):  # noqa: PTH118 - thousands of times
        return folder
    links = Path(tempfile.mkdtemp(prefix="plait-path-"))
    for program in Path(folder).iterdir():
        if program.name not in names:
            (links / program.name).symlink_to(program)
    return str(links)


@contextmanager
def use_environment(env: Mapping[str, str]) -> Iterator[None]:
    """Give this process these variables and no others, so that its children belong to the same project."""
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(env)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


@dataclass
class TempProject:
    """`folder` holds the repository, its bare remote, and a home with settings and state."""

    folder: Path
    env: dict[str, str]
    cli_processes: list[subprocess.Popen[str]] = field(default_factory=list)
    terminals: list[Terminal] = field(default_factory=list)
    forks: bool = True  # of the fork server; False: `plait` is started as users start it

    @property
    def top(self) -> Path:
        return self.folder / "repository"

    @property
    def remote(self) -> Path:
        return self.folder / "remote.git"

    @cached_property
    def place(self) -> RepoLocation:
        return find_repo(self.top)

    # -- files

    def task(self, name: str, run: str | None = None, *, folder: str = "tasks", **front: object) -> Path:
        """Write a task file; `front` is its front matter, `run` its command."""
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
        """The text of a file; empty if there is none."""
        path = self.top / name
        return path.read_text() if path.exists() else ""

    def wait_for_file(self, name: str, holds: str = "") -> str:
        """The text of a file, as soon as it contains `holds`."""
        wait_until(lambda: (self.top / name).exists() and holds in self.read(name))
        return self.read(name)

    # -- plait

    def plait(self, *words: str, env: Mapping[str, str] | None = None) -> CliResult:
        return self.finish(self.start(*words, env=env))

    def start(self, *words: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """`plait WORDS…`, in the background and on no terminal."""
        order = self._order(words, env)
        if order is None:
            return self.popen(plait_command(*words), env)
        process = ForkedProcess(order, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.cli_processes.append(process)
        return process

    def _order(self, words: Sequence[str], env: Mapping[str, str] | None = None) -> Order | None:
        """None: it can't be forked."""
        whole = {**self.env, **(env or {})}
        return Order("plait", words, str(self.top), whole) if self.forks and can_fork(whole) else None

    def popen(self, words: Sequence[str], env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            words,
            cwd=self.top,
            env={**self.env, **(env or {})},
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self.cli_processes.append(process)
        return process

    def python_path(self, folder: Path) -> dict[str, str]:
        """The variable with which processes can import modules of this folder too."""
        return {"PYTHONPATH": f"{folder}{os.pathsep}{self.env['PYTHONPATH']}"}

    def finish(self, process: subprocess.Popen[str]) -> CliResult:
        out, err = process.communicate(timeout=TIMEOUT_SECONDS)
        return CliResult(process.returncode, out, err)

    def terminal(self, *words: str, columns: int = 100) -> Terminal:
        """`plait WORDS…`, on a terminal of its own."""
        command = self._order(words) or plait_command(*words)
        terminal = Terminal(command, cwd=self.top, env=self.env, columns=columns)
        self.terminals.append(terminal)
        return terminal

    # -- the journal and the engine

    def read_records(self) -> list[Record]:
        with closing(open_journal_reader(self.place.state / JOURNAL_FILE)) as reader:
            return list(reader.read())

    def state(self) -> State:
        return read_past_batches(find_repo(self.top)).state or State()

    def batch(self) -> BatchState:
        """The only batch."""
        (batch,) = self.state().batches.values()
        return batch

    def statuses(self) -> dict[str, str]:
        return {task.task.id: task.status.value if task.status else "" for task in self.batch().tasks}

    def find_engine(self) -> int | None:
        """The process that holds the lease."""
        info = find_engine(self.place)
        return info.pid or None if info else None

    def read_engine_log(self) -> str:
        with suppress(FileNotFoundError):
            return (self.place.state / "engine.log").read_text()
        return ""

    def processes(self) -> list[psutil.Process]:
        """Every live process that descends from this project: engines, supervisors, agents, and what they started."""
        found = []
        for pid in psutil.pids():
            with suppress(psutil.NoSuchProcess):
                if pid != os.getpid() and self._is_alive(pid):
                    found.append(psutil.Process(pid))
        return found

    def _is_alive(self, pid: int) -> bool:
        return _has_variable(pid, f"{PROJECT_VARIABLE}={self.env[PROJECT_VARIABLE]}".encode())

    def wait_for_exit(self, timeout: float = TIMEOUT_SECONDS) -> None:
        """Wait until no process of the project is left: an engine exits when it has nothing to do."""
        while left := [process.pid for process in self.processes()]:
            wait_until(lambda: not any(map(self._is_alive, left)), timeout)

    def kill_processes(self) -> None:
        """Kill what is left. A killed process may have just started another one, hence more than once."""
        while left := self.processes():
            for process in left:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            time.sleep(0.02)

    # -- git

    def git(self, *words: str) -> str:
        return self.git_in(self.top, *words)

    def git_in(self, where: Path, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=where, env=self.env, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit_all(self) -> str:
        """Commit everything and push it to the remote; the commit's id."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "begin")
        self.git("push", "--quiet", "origin", "HEAD:main")
        return self.git("rev-parse", "HEAD")

    @property
    def branch(self) -> str:
        return self.batch().branch

    def read_merged_files(self) -> dict[str, str]:
        """The files of the batch branch by path, without the task files."""
        names = self.git("ls-tree", "-r", "--name-only", self.branch).splitlines()
        return {name: self.git("show", f"{self.branch}:{name}") for name in names if not name.startswith("tasks/")}

    def snapshot_user_files(self) -> dict[str, object]:
        """All that belongs to the user: files, index, HEAD, branches, stash, settings."""
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
        """Worktrees in use, temporary files and locks of git: a finished batch leaves none."""
        git = self.top / ".git"
        home = Path(self.env["XDG_CACHE_HOME"]) / "plait" / "worktrees"
        used = [str(path) for path in home.glob("*/batch-*/*")]
        half = [str(path) for path in (*home.glob("*/making/*"), *home.glob("*/trash/*"))]
        locks = [str(path) for path in git.rglob("*.lock") if git / "plait" not in path.parents]
        return [*used, *half, *locks]


def plait_command(*words: str) -> list[str]:
    return [sys.executable, "-P", "-m", "plait", *words]


@contextmanager
def temp_project(
    folder: Path,
    *,
    repository: bool = True,
    worktrees: bool = False,
    user: TempProject | None = None,
    forks: bool = True,
) -> Iterator[TempProject]:
    """`worktrees`: tasks run in worktrees, and there is a remote; otherwise tasks run in the checkout.

    `user`: the project whose home this one shares. `forks`: see TempProject. Nothing is committed before `commit_all`.
    """
    home = user.folder / "home" if user else folder / "home"
    project = TempProject(folder, _project_environment(home, worktrees=worktrees), forks=forks)
    project.top.mkdir(parents=True)
    home.mkdir(exist_ok=True)
    (home / "gitconfig").write_text("[user]\n\tname = Somebody\n\temail = somebody@example.org\n")
    if repository:
        project.git("init", "--quiet", "-b", "main")
    if worktrees:
        project.git("init", "--quiet", "--bare", "--initial-branch=main", str(project.remote))
        project.git("remote", "add", "origin", str(project.remote))
    before = os.environ.get("XDG_STATE_HOME", "")
    os.environ["XDG_STATE_HOME"] = project.env["XDG_STATE_HOME"]  # it says whose the project's state is
    try:
        yield project
    finally:
        os.environ["XDG_STATE_HOME"] = before
        project.kill_processes()
        for process in project.cli_processes:
            process.communicate()
        for terminal in project.terminals:
            terminal.process.wait()
            terminal.close()


def _project_environment(home: Path, *, worktrees: bool) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PLAIT_", "XDG_", "GIT_"))}
    folders = {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "STATE", "CACHE", "DATA")}
    return {
        **kept,
        **folders,
        "PATH": remove_agents_from_path(kept.get("PATH", os.defpath)),
        "HOME": str(home),
        "COLUMNS": "100",
        "GIT_CONFIG_GLOBAL": str(home / "gitconfig"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "PLAIT_ISOLATION": "worktree" if worktrees else "in-place",
        "PLAIT_PREFLIGHT": "false",  # many checks here are meant to fail on the base
        PROJECT_VARIABLE: token_hex(8),
    }


def _has_variable(pid: int, variable: bytes) -> bool:
    """Whether a live process was started with this variable. A zombie has none."""
    try:
        return variable in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:  # it has exited, or belongs to another user
        return False
