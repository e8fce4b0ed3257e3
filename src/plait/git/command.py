"""Runs the `git` program without prompts, hooks or maintenance, waiting for locks of other gits. Thread-safe."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain, repeat
from pathlib import Path

from plait.config.keys import is_own_secret
from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass

COMMAND_TIMEOUT_SECONDS = 3600.0  # seconds for one command: a checkout of a large repository on a slow disk takes long
LOCK_WAIT_SECONDS = 30.0  # seconds to wait for another process's lock
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
_FIXED_ENVIRONMENT: Mapping[str, str] = {
    "LC_ALL": "C",  # its error messages are parsed
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_OPTIONAL_LOCKS": "0",
}
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
    """The input of a command with -z."""
    return "".join(f"{field}\0" for field in fields).encode("utf-8", "surrogateescape")


class GitError(WorldError):
    """Git failed. `code` is its exit status, `stderr` its complete error output."""

    def __init__(self, message: str, *, hint: str = "", code: int = 1, stderr: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.stderr = stderr


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
        """The output of a command with -z."""
        return [field for field in self.out.decode("utf-8", "surrogateescape").split("\0") if field]


class Git:
    """Git in one folder. `environment` decides on credentials and identity; by default this process's."""

    def __init__(
        self,
        cwd: Path,
        *,
        environment: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
        settings: Sequence[str] = (),
        timeout: float = COMMAND_TIMEOUT_SECONDS,
    ) -> None:
        """`variables` override everything (GIT_DIR, GIT_INDEX_FILE); `settings` are further `-c name=value`."""
        if environment is None:  # filters, hooks and helpers that git starts get no token of plait's
            environment = {name: value for name, value in os.environ.items() if not is_own_secret(name)}
        self.cwd = cwd
        self.timeout = timeout
        kept = {name: value for name, value in environment.items() if name not in LOCATION_VARIABLES}
        self._env = {**kept, **_FIXED_ENVIRONMENT, **(variables or {})}
        self._settings = tuple(arg for setting in (*_FIXED_SETTINGS, *settings) for arg in ("-c", setting))

    def with_options(self, *, variables: Mapping[str, str] | None = None, settings: Sequence[str] = ()) -> Git:
        """A copy with further variables and settings."""
        location = {name: self._env[name] for name in LOCATION_VARIABLES if name in self._env}
        all_variables = {**location, **(variables or {})}
        copy = Git(self.cwd, environment=self._env, variables=all_variables, timeout=self.timeout)
        copy._settings = (*self._settings, *(arg for setting in settings for arg in ("-c", setting)))
        return copy

    def open_inner(self, git_dir: Path, folder: Path, settings: Sequence[str] = ()) -> Git:
        """Git for a repository inside this one, in the same environment."""
        variables = {"GIT_DIR": str(git_dir), "GIT_WORK_TREE": str(folder)}
        return Git(folder, environment=self._env, variables=variables, settings=settings, timeout=self.timeout)

    def resolve_commit(self, name: str) -> str | None:
        """The commit that a name stands for; None if it stands for none."""
        args = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        output = self.run(*args, codes=(0, 1, 128))
        return output.text if output.code == 0 else None

    def read_ref(self, ref: str) -> str:
        """The object that a ref holds; empty if there is no such ref."""
        return self.run("rev-parse", "--verify", "--quiet", ref, codes=(0, 1)).text

    def read_dead_ref(self, ref: str) -> str:
        """The object that a ref holds if that object is missing, so that the ref can be replaced; otherwise empty."""
        value = self.read_ref(ref)
        return value if value and self.resolve_commit(value) is None else ""

    def create_ref(self, ref: str, commit: str) -> None:
        """Raises GitError if the ref exists."""
        self.run("update-ref", "-m", "plait", ref, commit, "0" * len(commit))

    def tree_of(self, commit: str) -> str:
        return self.text("rev-parse", "--verify", f"{commit}^{{tree}}")

    def parents_of(self, commit: str) -> tuple[str, ...]:
        return tuple(self.text("rev-parse", f"{commit}^@").split())

    def is_ancestor(self, ancestor: str, commit: str) -> bool:
        """Whether `ancestor` is in the history of `commit`, or is the same commit."""
        if ancestor == commit:
            return True
        return self.run("merge-base", "--is-ancestor", ancestor, commit, codes=(0, 1)).code == 0

    def read_bool(self, key: str) -> bool | None:
        """A setting; None if it is not set."""
        value = self.run("config", "--type=bool", "--get", key, codes=(0, 1)).text
        return value == "true" if value else None

    def commit_tree(self, tree: str, parents: Sequence[str], message: bytes, *options: str) -> str:
        """A new commit that no ref holds yet; no hook is run."""
        return self.text(
            "commit-tree", tree, *(arg for parent in parents for arg in ("-p", parent)), *options, stdin=message
        )

    def commit_as_plait(self, tree: str, parents: Sequence[str], message: bytes) -> str:
        return self.with_options(variables=PLAIT_IDENTITY).commit_tree(tree, parents, message)

    def text(self, *args: str, stdin: bytes = b"") -> str:
        return self.run(*args, stdin=stdin).text

    def run(self, *args: str, stdin: bytes = b"", codes: Collection[int] = (0,)) -> GitOutput:
        """Raises GitError for an exit status other than `codes`. Waits a while for locks that others hold."""
        until = time.monotonic() + LOCK_WAIT_SECONDS
        pauses = chain(_RETRY_PAUSES, repeat(_RETRY_PAUSES[-1]))
        while (output := self._run_once(args, stdin)).code not in codes:
            is_contention = _LOCK_CONTENTION.search(output.err) and not _REF_MISMATCH.search(output.err)
            if not is_contention or time.monotonic() > until:
                raise _make_error(args, output)
            time.sleep(next(pauses))
        return output

    def _run_once(self, args: Sequence[str], stdin: bytes) -> GitOutput:
        try:
            process = subprocess.run(  # words, never a line for a shell
                ["git", *self._settings, *args],  # the user's git
                cwd=self.cwd,
                env=self._env,
                input=stdin,
                capture_output=True,
                check=False,
                timeout=self.timeout,
            )
        except FileNotFoundError as error:
            if not self.cwd.is_dir():
                raise GitError(f"the folder {self.cwd} is gone") from error
            raise GitError("git is not installed", hint="Install git 2.38 or newer.") from error
        except subprocess.TimeoutExpired as error:
            raise GitError(f"git {args[0]} did not end in {self.timeout / 60:.0f} minutes") from error
        except OSError as error:
            raise GitError(f"git can't be run in {self.cwd}: {error}") from error
        return GitOutput(process.returncode, process.stdout, process.stderr.decode("utf-8", "replace"))


def _make_error(args: Sequence[str], output: GitOutput) -> GitError:
    """The error line: others may be progress or hints."""
    lines = [line.strip() for line in output.err.splitlines() if line.strip()]
    complaint = next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1] if lines else "")
    reason = complaint.removeprefix("fatal: ").removeprefix("error: ") or f"exit status {output.code}"
    return GitError(f"git {args[0]}: {reason}", code=output.code, stderr=output.err)
