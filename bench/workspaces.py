"""A workspace that is ready, in a repository of many files, against plain `git worktree add`: new, reused, sparse, eight at once."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from shutil import rmtree
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

from bench.table import Row
from plait.git.interfaces import WorkspaceSetup
from plait.git.worktrees.workspaces import GitWorkspaces

AT_ONCE = 8
BATCH = "bench"
PLAIN = WorkspaceSetup()
_PER_FOLDER = 100


def rows(quick: bool) -> list[Row]:  # noqa: FBT001 - the one thing that every benchmark is asked
    files, rounds = (5_000, 3) if quick else (50_000, 5)
    with TemporaryDirectory() as folder:
        return _rows(Field(Path(folder), files), files, rounds)


class Field:
    """A repository, and workspaces of it."""

    def __init__(self, folder: Path, files: int) -> None:
        own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        self._env = {**own, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        self.top = folder / "repository"
        self._plain = folder / "plain"
        self._names = map(str, count())
        self._prepared: set[str] = set()
        self.heads = self._build(files)
        self.workspaces = GitWorkspaces(self.top / ".git", folder / "workspaces", keep=AT_ONCE, environment=self._env)

    def git(self, *words: str, feed: bytes = b"") -> str:
        done = subprocess.run(["git", *words], cwd=self.top, env=self._env, input=feed, check=True, capture_output=True)
        return done.stdout.decode().strip()

    def plain(self, name: str = "") -> None:
        """The floor."""
        self.git("worktree", "add", "--quiet", "--detach", str(self._plain / (name or next(self._names))))

    def forget_plain(self) -> None:
        rmtree(self._plain, ignore_errors=True)
        self.git("worktree", "prune")

    def prepare(self, task: str, head: int = 0, setup: WorkspaceSetup = PLAIN) -> None:
        self.workspaces.prepare(BATCH, task, self.heads[head], setup, top=str(self.top))
        self._prepared.add(task)

    def clear(self) -> None:
        while self._prepared:
            self.workspaces.release(BATCH, self._prepared.pop())
        self.workspaces.release_gate(BATCH)
        self.workspaces.trim_pool()

    def _build(self, files: int) -> tuple[str, str]:
        """Two commits, a few files apart; made without a checkout."""
        self.top.mkdir()
        self.git("init", "--quiet")
        first = self._commit("first", "", (f"folder-{n // _PER_FOLDER}/file-{n}.txt" for n in range(files)))
        second = self._commit("second", first, (f"folder-{n}/file-{n * _PER_FOLDER}.txt" for n in range(20)))
        return first, second

    def _commit(self, text: str, parent: str, names: object) -> str:
        assert hasattr(names, "__iter__")
        lines = ["commit refs/heads/main", "committer bench <bench@localhost> 0 +0000", "data 0"]
        lines += [f"from {parent}"] if parent else []
        for name in names:
            content = f"{text} {name}\n" * 20
            lines += [f"M 644 inline {name}", f"data {len(content)}", content]
        self.git("fast-import", "--quiet", "--force", feed="\n".join([*lines, ""]).encode())
        self.git("symbolic-ref", "HEAD", "refs/heads/main")
        return self.git("rev-parse", "main")


def _rows(field: Field, files: int, rounds: int) -> list[Row]:
    times: dict[str, list[float]] = {}

    def timed(name: str, work: Callable[[], object]) -> None:
        began = perf_counter()
        work()
        times.setdefault(name, []).append(perf_counter() - began)

    for _ in range(rounds):  # in turns, so that a slow moment of the machine meets all of them
        timed("plain", field.plain)
        timed("new", lambda: field.prepare("one"))
        timed("again", lambda: field.prepare("one"))
        timed("released", lambda: field.workspaces.release(BATCH, "one"))
        timed("reused", lambda: field.prepare("two"))
        field.workspaces.release(BATCH, "two")
        timed("moved", lambda: field.prepare("three", head=1))
        field.clear()
        timed("sparse", lambda: field.prepare("four", setup=WorkspaceSetup(sparse=("folder-1", "folder-2"))))
        field.clear()
        timed("all plain", lambda: _one_by_one(field))
        timed("all new", lambda: _at_once(field, "a"))
        timed("usage", field.workspaces.measure_disk_usage)
        for n in range(AT_ONCE):
            field.workspaces.release(BATCH, f"a{n}")
        timed("all reused", lambda: _at_once(field, "b"))
        field.clear()
        field.forget_plain()
    took = {name: median(each) for name, each in times.items()}
    return _told(took, files)


def _told(took: dict[str, float], files: int) -> list[Row]:
    here, plain = f"{files:,} files", took["plain"]
    return [
        Row(f"{here}: a new workspace", took["new"], "s", plain, "at most 1.1x"),
        Row(f"{here}: reused, same base", took["reused"], "s", plain, "at most 0.3x"),
        Row(f"{here}: reused, another base", took["moved"], "s", plain, "at most 0.3x"),
        Row(f"{here}: two folders of it", took["sparse"], "s", plain, "at most 0.3x"),
        Row(f"{here}: the next attempt of a task", took["again"], "s", plain, "well below 0.1x"),
        Row(f"{here}: given back", took["released"], "s", plain),
        Row(
            f"{here}: {AT_ONCE} new ones at once",
            took["all new"],
            "s",
            took["all plain"],
            "below 1x of one by one",
        ),
        Row(f"{here}: {AT_ONCE} reused at once", took["all reused"], "s", took["all plain"], "at most 0.3x"),
        Row(f"usage of {AT_ONCE} workspaces, measured anew", took["usage"], "s"),
    ]


def _one_by_one(field: Field) -> None:
    for _ in range(AT_ONCE):
        field.plain()


def _at_once(field: Field, name: str) -> None:
    """One that fails is an error."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        list(threads.map(field.prepare, [f"{name}{n}" for n in range(AT_ONCE)]))
