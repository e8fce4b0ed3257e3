from __future__ import annotations

import hashlib
import os
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from plait.git.gc.collector import GarbageCollector
from plait.git.gc.removal_rules import GcBatch, GcItem, GcOptions, GcPlan, KeptItem, Removal, plan_gc
from plait.git.interfaces import WorkspaceSetup
from plait.git.refs import batch_branch
from plait.git.worktrees.workspaces import GitWorkspaces
from plait.git.worktrees.worktree import Repository, WorkspaceLayout
from plait.system.state_paths import StateFolder
from tests.support.git_repository import isolate_git

PLAIN = WorkspaceSetup()


@pytest.fixture(autouse=True)
def git_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    isolate_git(monkeypatch)


def git(where: Path, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=where, capture_output=True, check=False, timeout=60)
    assert done.returncode == 0, (args, done.stderr.decode("utf-8", "replace"))
    return done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n")


class GcProject:
    """A repository with a checkout and workspaces, and what a journal would know of its batches."""

    def __init__(self, root: Path) -> None:
        self.top = root / "project"
        self.top.mkdir()
        git(self.top, "init", "--quiet")
        self.common = self.top / ".git"
        (self.top / "README").write_text("read me\n")
        git(self.top, "add", "--all")
        git(self.top, "commit", "--quiet", "-m", "first")
        self.base = git(self.top, "rev-parse", "HEAD")
        self.location = root / "cache"
        self.root = self.location / "project-1"
        self.workspaces = GitWorkspaces(self.common, self.root)
        self.repository = Repository(self.common)
        self.layout = WorkspaceLayout(self.root)
        self.state = StateFolder(self.common / "plait")
        self.batches: dict[str, GcBatch] = {}

    def git(self, *args: str, at: Path | None = None) -> str:
        return git(at or self.top, *args)

    def batch(self, name: str, *tasks: str, over: bool = True, days: float = 20.0) -> None:
        self.batches[name] = GcBatch(name, over, time.time() - days * 86_400, tasks, batch_branch(name))

    def workspace(self, batch: str, task: str) -> Path:
        return Path(self.workspaces.prepare(batch, task, self.base, PLAIN, top=str(self.top)))

    @property
    def make_collector(self) -> GarbageCollector:
        return GarbageCollector(self.repository, self.layout, self.state, lambda: dict(self.batches))

    def plan(self, options: GcOptions = GcOptions()) -> GcPlan:  # noqa: B008 - frozen
        return plan_gc(self.make_collector.collect_facts(), options)

    def clean(self, options: GcOptions = GcOptions()) -> list[Removal | KeptItem]:  # noqa: B008
        return list(self.make_collector.clean(self.plan(options).removals, options))

    def refs(self, under: str = "") -> dict[str, str]:
        listing = git(self.top, "for-each-ref", "--format=%(refname) %(objectname)", *([under] if under else []))
        return dict(line.split(" ") for line in listing.splitlines())

    def commit(self, **files: str) -> str:
        """A commit on the base, on no branch; no checkout is touched."""
        env = {**os.environ, "GIT_INDEX_FILE": str(self.common / "scratch-index")}

        def run(*args: str, feed: str = "") -> str:
            line = ["git", *args]
            done = subprocess.run(line, cwd=self.top, env=env, input=feed, capture_output=True, text=True, check=True)
            return done.stdout.strip()

        run("read-tree", self.base)
        for name, text in files.items():
            blob = run("hash-object", "-w", "--stdin", feed=text)
            run("update-index", "--add", "--cacheinfo", f"100644,{blob},{name}")
        made = run("commit-tree", run("write-tree"), "-p", self.base, "-m", f"adds {', '.join(files)}")
        (self.common / "scratch-index").unlink()
        return made

    def ref(self, name: str, commit: str) -> None:
        git(self.top, "update-ref", name, commit)

    def snapshot_user_files(self) -> dict[str, str]:
        """Everything of the user's: checkout, HEAD, index, stash, settings, branches, worktrees."""
        inside = [self.common / name for name in ("HEAD", "index", "config", "refs/stash", "logs/HEAD")]
        files = [each for each in self.top.rglob("*") if ".git" not in each.parts]
        observed = {str(e): hashlib.sha256(e.read_bytes()).hexdigest() for e in (*inside, *files) if e.is_file()}
        own = {name: tip for name, tip in self.refs().items() if "plait/" not in name}
        return observed | own

    def find_kept(self, found: Sequence[Removal | KeptItem]) -> dict[str, str]:
        """Why, by name."""
        return {_name(each.item): each.why for each in found if isinstance(each, KeptItem)}

    def find_removed(self, found: Sequence[Removal | KeptItem]) -> dict[str, str]:
        return {_name(each.item): each.why for each in found if isinstance(each, Removal)}

    def list_worktrees(self) -> list[str]:
        """All that takes room, and git's folders about worktrees of plait's."""
        found = [*self.layout.list_all(), *self.repository.worktree_gitdirs]
        return [each.name for each in found]


def _name(thing: GcItem) -> str:
    return getattr(thing, "name", "") or Path(getattr(thing, "path", "")).name


@pytest.fixture
def project(tmp_path: Path) -> GcProject:
    return GcProject(tmp_path)
