"""Runs the `git` program without prompts, hooks or maintenance, waiting for locks of other gits. Thread-safe.

Each command is a session of its own, without a terminal: a program that git runs (a signer, a credential helper) can't ask
there, and is ended with its command. `control_commands` lets another thread cancel commands and learn what they wait for.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, count, repeat, takewhile
from pathlib import Path
from typing import IO

from plait.config.keys import is_own_secret
from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.text import format_duration
from plait.git.object_reader import FORMAT, ObjectReader, ReaderError, find_reader
from plait.system import processes

COMMAND_TIMEOUT_SECONDS = 3600.0  # seconds for one command: a checkout of a large repository on a slow disk takes long
SIGNING_TIMEOUT_SECONDS = 120.0  # for a commit whose signer may ask a person for a passphrase
CREDENTIAL_TIMEOUT_SECONDS = 20.0  # for a credential helper that may ask a person for a password
LOCK_WAIT_SECONDS = 30.0  # seconds to wait for another process's lock
CHECK_SECONDS = 2.0  # between two looks at what a command waits for
_TERMINATION_SECONDS = 2.0  # from SIGTERM, on which git removes its locks, to SIGKILL
# Programs that git runs to get a password, or that run such ones. Others, such as filters and hooks, may take as long as their command.
_CREDENTIAL_PROGRAM = re.compile(r"git-credential|git-remote-http|askpass")
_SIGNING_COMMANDS = frozenset({"commit", "commit-tree"})
_HOOKS = frozenset({"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-index-change"})
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
_INTERPRETER = re.compile(r"(?:ba|da|z|k)?sh$|python|perl|node|ruby")
_RETRY_PAUSES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
# Its errors when another git holds a lock, or is just creating or removing what this one reads.
_LOCK_CONTENTION = re.compile(
    r"\.lock'?: File exists|could not lock config file|cannot lock ref|failed to read .*/commondir"
    r"|Another git process seems to be running"
)
# A ref that has another value than was expected is an answer, not a lock.
_REF_MISMATCH = re.compile(
    r"is at [0-9a-f]+ but expected|reference already exists|exists; cannot create|unable to resolve reference"
)
# Variables that would make git use another repository than the one given.
LOCATION_VARIABLES = frozenset(
    {
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_COMMON_DIR",
        "GIT_CONFIG",
        "GIT_DIR",
        "GIT_GRAFT_FILE",
        "GIT_INDEX_FILE",
        "GIT_NAMESPACE",
        "GIT_NO_REPLACE_OBJECTS",
        "GIT_OBJECT_DIRECTORY",
        "GIT_PREFIX",
        "GIT_REPLACE_REF_BASE",
        "GIT_SHALLOW_FILE",
        "GIT_WORK_TREE",
    }
)
# What decides which objects a name can stand for, besides GIT_DIR.
_OBJECT_VARIABLES = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_GRAFT_FILE",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
)
# gpg would ask for a passphrase in the terminal that a front end shows the batch in.
_LEFT_OUT_VARIABLES = LOCATION_VARIABLES | {"GPG_TTY"}
_FIXED_ENVIRONMENT: Mapping[str, str] = {
    "LC_ALL": "C",  # its error messages are parsed
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_OPTIONAL_LOCKS": "0",
}
# For the log of a ref, where no address is configured: git would look up this machine's name in the network, which can take seconds.
_DEFAULT_ENVIRONMENT = {"EMAIL": "plait@localhost"}
_FIXED_SETTINGS = (
    f"core.hooksPath={os.devnull}",
    "core.fsmonitor=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
)
# The author and committer of commits that plait makes for itself.
PLAIT_IDENTITY = {
    "GIT_AUTHOR_NAME": "plait",
    "GIT_AUTHOR_EMAIL": "plait@localhost",
    "GIT_COMMITTER_NAME": "plait",
    "GIT_COMMITTER_EMAIL": "plait@localhost",
}


def join_fields(fields: Iterable[str]) -> bytes:
    """Format fields as the input of a git command with -z."""
    return "".join(f"{field}\0" for field in fields).encode("utf-8", "surrogateescape")


class GitError(WorldError):
    """A failure of git. `code` is its exit status, `stderr` its complete error output."""

    def __init__(self, message: str, *, hint: str = "", code: int = 1, stderr: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.stderr = stderr


class GitCancelledError(GitError):
    """A git command that another thread has cancelled."""


class CommandControl:
    """The git commands of one job, seen from another thread. `on_wait` gets the name of a program that one waits for, and "" when
    it no longer does; it is called by the thread that waits.
    """

    def __init__(self, on_wait: Callable[[str], None] = lambda _: None) -> None:
        self._on_wait = on_wait
        self._cancelled = threading.Event()
        self.awaited_program = ""

    def report_wait(self, program: str) -> None:
        if program != self.awaited_program:
            self.awaited_program = program
            self._on_wait(program)

    def cancel(self) -> None:
        """End the running command with everything it started, and let no other one start."""
        self._cancelled.set()

    def pause(self, seconds: float) -> None:
        self._cancelled.wait(seconds)

    def raise_if_cancelled(self) -> None:
        if self._cancelled.is_set():
            raise GitCancelledError("it was cancelled")


_controls = threading.local()
_NO_CONTROL = CommandControl()


@contextmanager
def control_commands(control: CommandControl) -> Iterator[None]:
    """Let `control` control the git commands of this thread."""
    _controls.current = control
    try:
        yield
    finally:
        del _controls.current


@dataclass(frozen=True, slots=True)
class GitOutput:
    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode("utf-8", "surrogateescape").removesuffix("\n")

    @property
    def fields(self) -> list[str]:
        """Split the output of a command with -z into its fields."""
        return [field for field in self.out.decode("utf-8", "surrogateescape").split("\0") if field]


class Git:
    """Runs git in one folder. `environment`, by default this process's, provides credentials and identity."""

    def __init__(
        self,
        cwd: Path,
        *,
        environment: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
        settings: Sequence[str] = (),
        timeout: float = COMMAND_TIMEOUT_SECONDS,
    ) -> None:
        """Prepare the environment: `variables` override everything (GIT_DIR, GIT_INDEX_FILE); `settings` are further
        `-c name=value`.
        """
        if environment is None:  # filters, hooks and helpers that git starts get no token of plait's
            environment = {name: value for name, value in os.environ.items() if not is_own_secret(name)}
        self.cwd = cwd
        self.timeout = timeout
        kept = {name: value for name, value in environment.items() if name not in _LEFT_OUT_VARIABLES}
        self._env = {**_DEFAULT_ENVIRONMENT, **kept, **_FIXED_ENVIRONMENT, **(variables or {})}
        self._settings = tuple(arg for setting in (*_FIXED_SETTINGS, *settings) for arg in ("-c", setting))

    def find_variable(self, name: str) -> str | None:
        return self._env.get(name)

    def with_options(self, *, variables: Mapping[str, str] | None = None, settings: Sequence[str] = ()) -> Git:
        """Return a copy with further variables and settings."""
        location = {name: self._env[name] for name in LOCATION_VARIABLES if name in self._env}
        all_variables = {**location, **(variables or {})}
        copy = Git(self.cwd, environment=self._env, variables=all_variables, timeout=self.timeout)
        copy._settings = (*self._settings, *(arg for setting in settings for arg in ("-c", setting)))
        return copy

    def with_timeout(self, timeout: float) -> Git:
        copy = self.with_options()
        copy.timeout = timeout
        return copy

    def open_inner(self, git_dir: Path, folder: Path, settings: Sequence[str] = ()) -> Git:
        """Return git for a repository inside this one, in the same environment."""
        variables = {"GIT_DIR": str(git_dir), "GIT_WORK_TREE": str(folder)}
        return Git(folder, environment=self._env, variables=variables, settings=settings, timeout=self.timeout)

    def _find_reader(self) -> ObjectReader | None:
        place = self._env.get("GIT_DIR", str(self.cwd))
        return find_reader((place, *(self._env.get(name) for name in _OBJECT_VARIABLES)), self._start_reader)

    def _start_reader(self) -> subprocess.Popen[bytes]:
        return self._start(("cat-file", FORMAT), subprocess.PIPE, subprocess.PIPE, subprocess.DEVNULL)

    def resolve_commit(self, name: str) -> str | None:
        """Return the commit that a name stands for; None if it stands for none."""
        if (reader := self._find_reader()) is not None:
            with suppress(ReaderError):
                return reader.find(f"{name}^{{commit}}")
        args = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        output = self.run(*args, codes=(0, 1, 128))
        return output.text if output.code == 0 else None

    def read_ref(self, ref: str) -> str:
        """Return the object that a ref holds; empty if there is no such ref."""
        return self.run("rev-parse", "--verify", "--quiet", ref, codes=(0, 1)).text

    def read_dead_ref(self, ref: str) -> str:
        """Return the object that a ref holds if that object is missing, so that the ref can be replaced; otherwise
        empty.
        """
        value = self.read_ref(ref)
        return value if value and self.resolve_commit(value) is None else ""

    def create_ref(self, ref: str, commit: str) -> None:
        """Create a ref; raises GitError if it exists."""
        self.run("update-ref", "-m", "plait", ref, commit, "0" * len(commit))

    def tree_of(self, commit: str) -> str:
        if (reader := self._find_reader()) is not None:
            with suppress(ReaderError):
                if tree := reader.find(f"{commit}^{{tree}}"):
                    return tree
        return self.text("rev-parse", "--verify", f"{commit}^{{tree}}")

    def parents_of(self, commit: str) -> tuple[str, ...]:
        if (reader := self._find_reader()) is not None:
            with suppress(ReaderError):
                if reader.find(f"{commit}^{{commit}}"):
                    found = (reader.find(f"{commit}^{n}") for n in count(1))
                    return tuple(parent for parent in takewhile(bool, found) if parent)
        return tuple(self.text("rev-parse", f"{commit}^@").split())

    def is_ancestor(self, ancestor: str, commit: str) -> bool:
        """Whether `ancestor` is in the history of `commit`, or is the same commit."""
        if ancestor == commit:
            return True
        if (reader := self._find_reader()) is not None:
            with suppress(ReaderError):
                if reader.find(f"{commit}^") == ancestor:
                    return True
        return self.run("merge-base", "--is-ancestor", ancestor, commit, codes=(0, 1)).code == 0

    def read_bool(self, key: str) -> bool | None:
        """Return a boolean setting; None if it is not set."""
        value = self.run("config", "--type=bool", "--get", key, codes=(0, 1)).text
        return value == "true" if value else None

    def commit_tree(self, tree: str, parents: Sequence[str], message: bytes, *options: str) -> str:
        """Make a commit that no ref holds yet, without running hooks. With -S, a signer may ask a person for a
        passphrase.
        """
        git = self.with_timeout(SIGNING_TIMEOUT_SECONDS) if "-S" in options else self
        return git.text(
            "commit-tree", tree, *(arg for parent in parents for arg in ("-p", parent)), *options, stdin=message
        )

    def commit_as_plait(self, tree: str, parents: Sequence[str], message: bytes) -> str:
        return self.with_options(variables=PLAIT_IDENTITY).commit_tree(tree, parents, message)

    def text(self, *args: str, stdin: bytes = b"") -> str:
        return self.run(*args, stdin=stdin).text

    def run(
        self, *args: str, stdin: bytes | IO[bytes] = b"", stdout: IO[bytes] | None = None, codes: Collection[int] = (0,)
    ) -> GitOutput:
        """Run a command; raises GitError for an exit status other than `codes`. Waits a while for locks that others
        hold.

        `stdin` and `stdout` may be files, which are used from their current positions. This is for commands that take
        no lock.
        """
        until = time.monotonic() + LOCK_WAIT_SECONDS
        pauses = chain(_RETRY_PAUSES, repeat(_RETRY_PAUSES[-1]))
        control: CommandControl = getattr(_controls, "current", _NO_CONTROL)
        has_files = stdout is not None or not isinstance(stdin, bytes)
        while (output := self._run_once(args, stdin, stdout, control)).code not in codes:
            is_contention = _LOCK_CONTENTION.search(output.err) and not _REF_MISMATCH.search(output.err)
            if not is_contention or has_files or time.monotonic() > until:
                raise _make_error(args, output)
            control.pause(next(pauses))
        return output

    @contextmanager
    def start(self, *args: str, codes: Collection[int] = (0,)) -> Iterator[Callable[[], GitOutput]]:
        """Start a command that takes no lock. The function that is yielded waits for its output, and raises as `run`
        does.
        """
        control: CommandControl = getattr(_controls, "current", _NO_CONTROL)
        control.raise_if_cancelled()
        with self._start(args, subprocess.DEVNULL, subprocess.PIPE, subprocess.PIPE) as process:

            def wait() -> GitOutput:
                output = _communicate(process, args[0], None, self.timeout, control)
                if output.code not in codes:
                    raise _make_error(args, output)
                return output

            try:
                yield wait
            finally:
                if process.poll() is None:
                    _kill(process)

    def read_bounded(self, *args: str, max_bytes: int, meanwhile: Callable[[], None] = lambda: None) -> bytes | None:
        """Return the output of a command whose input is not trusted. If it exceeds `max_bytes`, end the command and
        return None.

        `meanwhile` is called once the command runs.
        """
        with self._start(args, subprocess.DEVNULL, subprocess.PIPE, subprocess.DEVNULL) as process:
            timer = threading.Timer(self.timeout, _kill, [process])
            timer.start()
            try:
                assert process.stdout is not None
                meanwhile()
                output = process.stdout.read(max_bytes + 1)
                if len(output) > max_bytes:
                    _kill(process)
                    return None
            except BaseException:
                _kill(process)
                raise
            finally:
                timer.cancel()
        if process.returncode:
            raise GitError(f"git {args[0]}: exit status {process.returncode}", code=process.returncode)
        return output

    def _run_once(
        self, args: Sequence[str], stdin: bytes | IO[bytes], stdout: IO[bytes] | None, control: CommandControl
    ) -> GitOutput:
        control.raise_if_cancelled()
        data = stdin if isinstance(stdin, bytes) else None
        with self._start(
            args, subprocess.PIPE if isinstance(stdin, bytes) else stdin, stdout or subprocess.PIPE, subprocess.PIPE
        ) as process:
            try:
                return _communicate(process, args[0], data, self.timeout, control)
            except BaseException:
                _kill(process)
                raise

    def _start(
        self, args: Sequence[str], stdin: int | IO[bytes], stdout: int | IO[bytes], stderr: int
    ) -> subprocess.Popen[bytes]:
        try:
            return _Process(  # words, never a line for a shell
                ["git", *self._settings, *args],  # the user's git
                cwd=self.cwd,
                env=self._env,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        except FileNotFoundError as error:
            if not self.cwd.is_dir():
                raise GitError(f"the folder {self.cwd} no longer exists") from error
            raise GitError("git is not installed", hint="Install git 2.38 or newer.") from error
        except OSError as error:
            raise GitError(f"git can't be run in {self.cwd}: {error}") from error


class _Process(subprocess.Popen[bytes]):
    def wait(self, timeout: float | None = None) -> int:
        """Wait for the exit without the pauses of the standard `wait` with a timeout, which add a millisecond to every
        command.
        """
        return super().wait(None if timeout is not None and _await_exit(self.pid, timeout) else timeout)


def _await_exit(pid: int, timeout: float) -> bool:
    """Wait until a child exits; whether it has. False also where the system can't wait for that, or if it was waited
    for before.
    """
    if sys.platform != "linux":
        return False
    try:
        fd = os.pidfd_open(pid)
    except OSError:
        return False
    try:
        poll = select.poll()
        poll.register(fd, select.POLLIN)
        return bool(poll.poll(1000 * timeout))
    finally:
        os.close(fd)


def _communicate(
    process: subprocess.Popen[bytes], name: str, stdin: bytes | None, timeout: float, control: CommandControl
) -> GitOutput:
    """Return a process's output. Raises GitError if it is cancelled or takes too long; the process still runs then."""
    began = time.monotonic()
    waits_since: float | None = None  # for a program that is to give a password
    remaining = stdin
    has_exited = False
    while True:
        try:
            out, err = process.communicate(remaining, timeout=CHECK_SECONDS)
        except subprocess.TimeoutExpired as error:
            remaining = None
            control.raise_if_cancelled()
            now = time.monotonic()
            if process.poll() is not None:
                if not has_exited:
                    has_exited = True  # it may have printed something just before
                    continue
                out, err = error.stdout or b"", error.stderr or b""  # a program that it left behind has its output open
            elif now - began > timeout:
                raise _make_timeout_error(process.pid, name, timeout) from None
            else:
                program, gives_password = find_awaited_program(process.pid)
                control.report_wait(program if gives_password or name in _SIGNING_COMMANDS else "")
                waits_since = (waits_since or now) if gives_password else None
                if waits_since is not None and now - waits_since > CREDENTIAL_TIMEOUT_SECONDS:
                    raise _make_timeout_error(process.pid, name, CREDENTIAL_TIMEOUT_SECONDS) from None
                continue
        control.raise_if_cancelled()
        control.report_wait("")
        return GitOutput(process.returncode, out or b"", err.decode("utf-8", "replace"))


def _make_timeout_error(pid: int, name: str, timeout: float) -> GitError:
    program, _ = find_awaited_program(pid)
    if not program:
        return GitError(f"git {name} did not end in {format_duration(timeout)}")
    return GitError(
        f"git {name} waited {format_duration(timeout)} for {program}, which may be asking for a password",
        hint=f"Unlock the key or log in, so that {program} answers by itself.",
    )


def find_awaited_program(pid: int) -> tuple[str, bool]:
    """Return the program that this git runs and waits for, and whether it is one that asks for a password.

    "" if git runs none but its own, ssh and hooks, which may take long.
    """
    children: dict[int, list[int]] = {}
    for process in processes.list_processes():
        if process.session == pid and not process.is_zombie:
            children.setdefault(process.parent, []).append(process.pid)
    queue = [(child, False) for child in children.get(pid, ())]
    while queue:
        child, gives_password = queue.pop(0)
        name = _program_name(child)
        if name in _HOOKS:
            continue
        gives_password = gives_password or _CREDENTIAL_PROGRAM.search(name) is not None
        is_own = (name.startswith("git") and not name.startswith("git-credential-")) or name == "ssh"
        if name and not is_own and (name not in _SHELLS or child not in children):
            return name, gives_password
        queue += [(grandchild, gives_password) for grandchild in children.get(child, ())]
    return "", False


def _program_name(pid: int) -> str:
    """Return the program's name; for a script, its own name and not its interpreter's."""
    words = processes.command_line(pid)
    name = Path(words[0]).name if words else ""
    is_script = len(words) > 1 and words[1].startswith("/") and _INTERPRETER.match(name)
    return Path(words[1]).name if is_script else name


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a process with everything it started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_TERMINATION_SECONDS if number is signal.SIGTERM else None)


def _make_error(args: Sequence[str], output: GitOutput) -> GitError:
    """Make an error from git's error line; its other lines may be progress or hints."""
    lines = [line.strip() for line in output.err.splitlines() if line.strip()]
    complaint = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1] if lines else "")
    reason = complaint.removeprefix("fatal: ").removeprefix("error: ") or f"exit status {output.code}"
    return GitError(f"git {args[0]}: {reason}", code=output.code, stderr=output.err)
