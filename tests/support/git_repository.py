"""Small repositories, and reference results of merges by plain git.

A ReferenceMerger repeats the merges of a journal in a checkout that shares only the objects.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from plait.core.decisions import Change
from plait.core.fast_dataclass import dataclass
from plait.git.command import LOCATION_VARIABLES


@dataclass(frozen=True, slots=True)
class Symlink:
    to: str


@dataclass(frozen=True, slots=True)
class ExecutableFile:
    """A file with mode 755."""

    text: str


Content = str | bytes | Symlink | ExecutableFile | None


Files = Mapping[str, Content]


def environment() -> dict[str, str]:
    """The environment of this process without settings of git."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


def isolate_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Git behaves the same whoever runs the tests."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Somebody")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "somebody@example.org")


class GitRepository:
    """A checkout whose first branch is called trunk."""

    def __init__(self, top: Path, *options: str) -> None:
        self.top = top
        self.env = environment()
        if not (top / ".git").exists():
            top.mkdir(parents=True, exist_ok=True)
            self.git("init", "-q", "--initial-branch=trunk", *options)
            git_dir = Path(self.git("rev-parse", "--absolute-git-dir")) if options else top / ".git"
            with (git_dir / "config").open("a") as config:  # faster than git config
                config.write("[user]\n\tname = Somebody\n\temail = somebody@example.org\n")

    @property
    def git_dir(self) -> Path:
        return self.top / ".git"

    def git(self, *words: str, feed: str = "", at: Path | None = None) -> str:
        return self.run(*words, feed=feed, at=at, check=True).stdout.rstrip("\n")

    def run(
        self, *words: str, feed: str = "", at: Path | None = None, check: bool = False
    ) -> subprocess.CompletedProcess[str]:
        assert not LOCATION_VARIABLES & self.env.keys()
        done = subprocess.run(  # words of the tests' own
            ["git", *words],
            cwd=at or self.top,
            env=self.env,
            input=feed,
            capture_output=True,
            text=True,
            errors="surrogateescape",
            check=False,
        )
        if check and done.returncode:
            raise AssertionError(f"git {' '.join(words)}: {done.stdout}{done.stderr}")
        return done

    def commit(self, files: Files | Callable[[Path], object], base: str = "", message: str = "work") -> str:
        """Check out `base`, write the files (None removes one) or call `files`, and commit everything."""
        if base:
            self.git("checkout", "-q", "-f", "--detach", base)
            self.git("clean", "-qffdx")
        if callable(files):
            files(self.top)
        else:
            for name, content in files.items():
                write_path(self.top / name, content)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.git("rev-parse", "HEAD")

    def tree(self, commit: str) -> str:
        return self.git("rev-parse", f"{commit}^{{tree}}")

    def files(self, commit: str) -> dict[str, str]:
        """The content of every file."""
        names = self.git("ls-tree", "-r", "-z", "--name-only", commit).split("\0")
        return {name: self.run("show", f"{commit}:{name}", check=True).stdout for name in names if name}

    def merge_tree(self, onto: str, tip: str) -> str | None:
        """The tree that `git merge` leaves in this checkout; None: a conflict."""
        self.git("checkout", "-q", "-f", "--detach", onto)
        done = self.run("merge", "-q", "--no-ff", "-m", "merge", tip)
        return self._outcome(done, "merge")

    def cherry_pick_tree(self, onto: str, base: str, tip: str) -> str | None:
        """The tree that is left when the change from `base` to `tip` is picked onto `onto`; None: a conflict."""
        change = self.git("commit-tree", f"{tip}^{{tree}}", "-p", base, "-m", "change")
        self.git("checkout", "-q", "-f", "--detach", onto)
        done = self.run("cherry-pick", "--allow-empty", "--keep-redundant-commits", change)
        return self._outcome(done, "cherry-pick")

    def _outcome(self, done: subprocess.CompletedProcess[str], verb: str) -> str | None:
        if done.returncode == 0:
            return self.tree("HEAD")
        # Git 2.39 gives up on some conflicts between files and folders.
        assert "CONFLICT" in done.stdout or "BUG: merge-ort" in done.stderr, done
        (self.git_dir / "index.lock").unlink(missing_ok=True)
        self.run(verb, "--quit")
        self.git("reset", "-q", "--hard")
        self.git("clean", "-qffdx")
        return None


def write_path(path: Path, content: Content) -> None:
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        shutil.rmtree(path)
    if content is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    match content:
        case Symlink(to):
            path.symlink_to(to)
        case ExecutableFile(text):
            path.write_text(text)
            path.chmod(0o755)
        case bytes():
            path.write_bytes(content)
        case str():
            path.write_text(content)


@dataclass(frozen=True, slots=True)
class ReferenceResult:
    """The tree in the end, what is in it, and what could not be merged."""

    tree: str
    kept: tuple[str, ...]
    clashes: tuple[str, ...]


class ReferenceMerger:
    """`git_dir` is only read."""

    def __init__(self, git_dir: Path, scratch: Path) -> None:
        self._repository = GitRepository(scratch)
        alternates = scratch / ".git" / "objects" / "info" / "alternates"
        alternates.write_text(f"{git_dir / 'objects'}\n")
        self._known: dict[tuple[str, Change], str | None] = {}

    def merge_tree(self, onto: str, change: Change) -> str | None:
        """The tree; None: a conflict. `git merge` does it, unless the branch was rebuilt without the base."""
        if (onto, change) not in self._known:
            self._known[onto, change] = self._merge(onto, change)
        return self._known[onto, change]

    def replay(self, base: str, line: Sequence[Change]) -> ReferenceResult:
        """One after the other onto the base, without those that conflict."""
        head, kept, clashes = base, [], []
        for change in line:
            tree = self.merge_tree(head, change)
            if tree is None:
                clashes.append(change.task)
                continue
            kept.append(change.task)
            parents = ("-p", head, "-p", change.tip)
            head = self._repository.git("commit-tree", tree, *parents, "-m", f"replayed {change.task}")
        return ReferenceResult(self.tree(head), tuple(kept), tuple(clashes))

    def tree(self, commit: str) -> str:
        return self._repository.tree(commit)

    def parents(self, commit: str) -> list[str]:
        return self._repository.git("rev-list", "--parents", "--max-count=1", commit).split()[1:]

    def _merge(self, onto: str, change: Change) -> str | None:
        if self._contains(onto, change.base) and self._contains(change.tip, change.base):
            return self._repository.merge_tree(onto, change.tip)
        return self._repository.cherry_pick_tree(onto, change.base, change.tip)

    def _contains(self, commit: str, base: str) -> bool:
        return self._repository.run("merge-base", "--is-ancestor", base, commit).returncode == 0
