"""A real repository with the worktree of a task, for tests of captures."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from plait.core.task import Attempt, Step
from plait.git.interfaces import CapturedChange, CaptureOptions, CommitInfo
from plait.git.refs import task_branch
from plait.git.worktrees.capture import capture, reset_workspace
from plait.git.worktrees.saved_work import SavedRefs, save_workspace
from plait.git.worktrees.worktree import Repository

ATTEMPT = Attempt("7f3a", "01-pages", Step.WRITE, 1)
AUTHOR = CommitInfo(
    "Make the pages", (("Plait-Batch", "7f3a"), ("Plait-Task", "01-pages"), ("Plait-Attempt", "write-1"))
)


def keep_content(path: str, base: bytes, new: bytes) -> bytes:
    """Restore nothing: there are no source files."""
    del path, base
    return new


def clean_environment() -> dict[str, str]:
    """An environment without git settings and without an identity."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "EMAIL"))}
    return {**kept, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


@dataclass(frozen=True)
class TaskWorktree:
    """`main` is the user's checkout, `path` the worktree, `base` its first commit."""

    main: Path
    path: Path
    base: str
    env: Mapping[str, str]

    @classmethod
    def create(
        cls, folder: Path, files: Mapping[str, bytes | str] | None = None, object_format: str = "sha1"
    ) -> TaskWorktree:
        env = clean_environment()
        main, path = folder / "main", folder / "work" / "plait-01"
        main.mkdir(parents=True)
        path.parent.mkdir()
        made = cls(main, path, "", env)
        made.git("init", "-q", "-b", "trunk", "--template=", f"--object-format={object_format}", at=main)
        with (main / ".git" / "config").open("a") as config:
            config.write("[user]\n\tname = Una User\n\temail = una@example.org\n[gc]\n\tauto = 0\n")
        for name, content in (files or {"a.txt": "a\n", "b.txt": "b\n", "d/c.txt": "c\n"}).items():
            made.write(name, content, at=main)
        made.git("add", "-A", "-f", at=main)
        made.git("commit", "-q", "-m", "base", at=main)
        made.git("worktree", "add", "-q", "-b", made.branch, str(path), at=main)
        base = made.git("rev-parse", "trunk", at=main)
        return cls(main, path, base, env)

    @property
    def branch(self) -> str:
        return task_branch(ATTEMPT.batch, ATTEMPT.task)

    @property
    def common(self) -> Path:
        return self.main / ".git"

    @property
    def repository(self) -> Repository:
        return Repository(self.common, self.env)

    @property
    def gitdir(self) -> Path:
        return self.common / "worktrees" / self.path.name

    def git(self, *words: str, at: Path | None = None, fails: bool = False) -> str:
        """Run git as an agent or a user does."""
        done = subprocess.run(  # no shell
            ["git", *words],
            cwd=at or self.path,
            env=self.env,
            capture_output=True,
            check=False,
        )
        if bool(done.returncode) is not fails:
            raise AssertionError(f"git {' '.join(words)}: {done.returncode} {done.stderr.decode()}")
        return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")

    def sparse(self, folder: str) -> None:
        """Check out one folder only, as plait does it: without settings of the repository."""
        self.write("info/sparse-checkout", f"/*\n!/*/\n/{folder}/\n", at=self.gitdir)
        keys = ("core.sparseCheckout", "core.sparseCheckoutCone", "index.sparse")
        self.git(*(word for key in keys for word in ("-c", f"{key}=true")), "read-tree", "-mu", "HEAD")

    def write(self, name: str, content: bytes | str, at: Path | None = None) -> None:
        file = (at or self.path) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)

    def commit(self, name: str, content: str) -> str:
        """Let the agent commit a file."""
        self.write(name, content)
        self.git("add", "--", name)
        self.git("commit", "-q", "-m", f"agent: {name}")
        return self.git("rev-parse", "HEAD")

    def capture(
        self,
        *,
        author: CommitInfo = AUTHOR,
        restore: Callable[[str, bytes, bytes], bytes] = keep_content,
        hooks: bool = False,
        attempt: Attempt = ATTEMPT,
        largest: int = 0,
    ) -> CapturedChange:
        options = CaptureOptions(author, lambda path: partial(restore, path), hooks, largest)
        return capture(self.repository, self.path, attempt, self.base, options)

    def put_back(self, tip: str) -> None:
        reset_workspace(self.repository, self.path, ATTEMPT, tip)

    def save(self) -> str | None:
        return save_workspace(SavedRefs(self.repository, ATTEMPT.batch, ATTEMPT.task), self.path)

    def files(self, commit: str) -> dict[str, str]:
        """The files of a commit and their contents."""
        names = self.git("ls-tree", "-r", "-z", "--name-only", commit, at=self.main).split("\0")
        return {name: self.show(commit, name) for name in names if name}

    def show(self, commit: str, name: str) -> str:
        return self.git("cat-file", "-p", f"{commit}:{name}", at=self.main)

    def read_saved_refs(self) -> dict[str, str]:
        """The saved refs and their commits."""
        said = self.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/plait/saved", at=self.main)
        return dict(line.split() for line in said.splitlines())

    def is_saved(self, commit: str) -> bool:
        """Whether a saved ref keeps this commit alive."""
        return bool(self.git("for-each-ref", "--contains", commit, "refs/plait/saved", at=self.main))

    def is_clean(self) -> bool:
        return self.git("status", "--porcelain=v2", "--untracked-files=all") == ""
