"""A repository with a checkout of somebody's, and workspaces of it."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from plait.git.interfaces import WorkspaceSetup
from plait.git.worktrees.workspaces import GitWorkspaces
from tests.support.git_repository import isolate_git

BATCH = "7f3a"
PLAIN = WorkspaceSetup()


@pytest.fixture(autouse=True)
def git_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    isolate_git(monkeypatch)


@dataclass
class WorkspaceRepo:
    top: Path
    root: Path

    @property
    def common(self) -> Path:
        return Path(self.git("rev-parse", "--path-format=absolute", "--git-common-dir"))

    @property
    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    def git(self, *args: str, at: Path | None = None, feed: str = "") -> str:
        done = subprocess.run(
            ["git", *args],
            cwd=at or self.top,
            input=feed.encode("utf-8", "surrogateescape"),
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, (args, done.stdout, done.stderr)
        return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")

    def write(self, files: dict[str, str], at: Path | None = None) -> None:
        for name, text in files.items():
            path = (at or self.top) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def commit(self, files: dict[str, str], at: Path | None = None) -> str:
        self.write(files, at)
        self.git("add", "--all", at=at)
        self.git("commit", "--quiet", "--allow-empty", "-m", "a change", at=at)
        return self.git("rev-parse", "HEAD", at=at)

    def open(self, keep: int = 4, on_warning: Callable[[str], None] | None = None) -> GitWorkspaces:
        return GitWorkspaces(self.common, self.root, keep=keep, on_warning=on_warning)

    def prepare(self, task: str = "one", base: str = "", setup: WorkspaceSetup = PLAIN, keep: int = 4) -> Path:
        return Path(self.open(keep).prepare(BATCH, task, base or self.head, setup, top=str(self.top)))

    def release(self, task: str = "one", keep: int = 4) -> None:
        self.open(keep).release(BATCH, task)

    def release_batch(self, *tasks: str) -> None:
        for task in tasks:
            self.release(task)
        self.open().release_gate(BATCH)

    def gate(self, commit: str, setup: WorkspaceSetup = PLAIN) -> Path:
        return Path(self.open().checkout(BATCH, commit, setup, top=str(self.top)))

    def list_saved(self, task: str = "one") -> list[str]:
        """Commits that were saved, in order."""
        where = f"refs/plait/saved/{BATCH}/{task}/"
        return self.git("for-each-ref", "--format=%(objectname)", where).splitlines()

    def branch(self, task: str = "one") -> str:
        return self.git("rev-parse", f"refs/heads/plait/task-{BATCH}-{task}")

    def status(self, workspace: Path) -> str:
        return self.git("status", "--porcelain", "--untracked-files=all", at=workspace)

    def gitdir(self, workspace: Path) -> Path:
        return Path((workspace / ".git").read_text().removeprefix("gitdir: ").strip())

    def text(self, commit: str, path: str) -> str:
        return self.git("show", f"{commit}:{path}")

    def worktrees(self) -> list[str]:
        """All but the user's own."""
        listing = self.git("worktree", "list", "--porcelain").split("\n\n")
        return [each.splitlines()[0].removeprefix("worktree ") for each in listing if each][1:]

    def list_pooled(self) -> list[str]:
        return sorted(each.name for each in self.root.glob("pool/*"))

    def snapshot_user_files(self) -> dict[str, str]:
        """All that must stay as it is, byte for byte: files, HEAD, index, stash, reflogs, configuration, branches."""
        names = ("HEAD", "index", "config", "config.worktree", "logs/HEAD", "logs/refs/stash", "info/exclude")
        inside = [self.common / name for name in names]
        files = [each for each in self.top.rglob("*") if ".git" not in each.relative_to(self.top).parts]
        result = {
            str(each): os.readlink(each)  # noqa: PTH115 - as it is, not as a path
            if each.is_symlink()
            else f"{each.stat().st_mtime_ns} {hashlib.sha256(each.read_bytes()).hexdigest()}"
            for each in (*inside, *files)
            if each.is_symlink() or each.is_file()
        }
        refs = self.git("for-each-ref", "--format=%(objectname) %(refname)").splitlines()
        return {**result, "refs": "\n".join(each for each in refs if "/plait/" not in each)}


@pytest.fixture
def repo(tmp_path: Path) -> WorkspaceRepo:
    top = tmp_path / "project"
    top.mkdir()
    made = WorkspaceRepo(top, tmp_path / "cache" / "project-1")
    made.git("init", "--quiet")
    made.commit({"README": "read me\n", "src/app.py": "print(1)\n", ".gitignore": "*.log\nvendor/\n"})
    return made
