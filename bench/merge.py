"""Fifty branches merged into one, in memory and as `git merge` does it in a ready worktree of the same repository."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.table import Row, interleaved
from plait.core.decisions import MergeStarted
from plait.core.reports import MergeDone
from plait.git.interfaces import MergeMessage, MergeRules
from plait.git.merge.branch_merger import GitBranchMerger
from plait.git.refs import batch_branch

_ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "HOME": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    **{f"GIT_{role}_NAME": "bench" for role in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{role}_EMAIL": "bench@localhost" for role in ("AUTHOR", "COMMITTER")},
}
_PER_FOLDER = 100


def rows(quick: bool) -> list[Row]:  # noqa: FBT001 - the one thing that every benchmark is asked
    files, branches, rounds = (5_000, 10, 3) if quick else (50_000, 50, 5)
    with TemporaryDirectory() as folder:
        top = Path(folder) / "repository"
        base, tips = _repository(top, files, branches)
        with _worktree(top, Path(folder) / "ready", base) as ready:
            batches = iter(range(rounds))
            ours, floor = interleaved(
                rounds,
                lambda: _ours(top, f"bench-{next(batches)}", base, tips),
                lambda: _checkout(ready, base, tips),
            )
        assert _tree(top, f"plait/batch-bench-{rounds - 1}") == _tree(top, "ready-head")
    what = f"{branches} branches merged, {files:,} files"
    return [
        Row(what, 1e3 * ours / branches, "ms/branch", 1e3 * floor / branches),
        Row(what, floor / ours, "times as fast", wish="" if quick else "at least 10"),
    ]


def _ours(top: Path, batch: str, base: str, tips: list[str]) -> None:
    """A new integrator each time: nothing is remembered from the last round."""
    integrator = GitBranchMerger(top / ".git", top / ".git" / "integrator", environment=_ENVIRONMENT)
    head = base
    for n, tip in enumerate(tips):
        order = MergeStarted(batch, f"task-{n}", 1, base, tip, head)
        done = integrator.merge(order, batch_branch(order.batch), MergeMessage(f"Merge task-{n}"), MergeRules())
        assert isinstance(done, MergeDone)
        head = done.commit


def _checkout(ready: Path, base: str, tips: list[str]) -> None:
    _git(ready, "reset", "-q", "--hard", base)
    for tip in tips:
        _git(ready, "merge", "-q", "--no-ff", "-m", "Merge", tip)
    _git(ready, "branch", "-f", "ready-head")


def _tree(top: Path, branch: str) -> str:
    return _git(top, "rev-parse", f"{branch}^{{tree}}")


def _repository(top: Path, files: int, branches: int) -> tuple[str, list[str]]:
    """Made by fast-import: no file of it is written but those of the one checkout."""
    subprocess.run(["git", "init", "-q", str(top)], check=True, env=_ENVIRONMENT)
    feed = b"".join(_history(files, branches))
    subprocess.run(["git", "fast-import", "--quiet"], cwd=top, input=feed, check=True, env=_ENVIRONMENT)
    return _git(top, "rev-parse", "base"), [_git(top, "rev-parse", f"task-{n}") for n in range(branches)]


def _history(files: int, branches: int) -> Iterator[bytes]:
    who = b"committer bench <bench@localhost> 1700000000 +0000\n"
    yield b"commit refs/heads/base\nmark :1\n" + who + b"data 4\nbase"
    for n in range(files):
        yield b"\nM 100644 inline %s\n" % _path(n) + _data(_content(n))
    for task in range(branches):
        yield b"\ncommit refs/heads/task-%d\n" % task + who + b"data 4\ntask\nfrom :1"
        for step in range(3):
            n = (task * 97 + step * 1009) % files
            yield b"\nM 100644 inline %s\n" % _path(n) + _data(_content(n) + b"by task %d\n" % task)
    yield b"\n"


def _path(n: int) -> bytes:
    folder = n // _PER_FOLDER
    return b"src/part%d/room%d/file%d.txt" % (folder % 50, folder, n)


def _content(n: int) -> bytes:
    return b"".join(b"line %d of file %d\n" % (line, n) for line in range(20))


def _data(content: bytes) -> bytes:
    return b"data %d\n" % len(content) + content


@contextmanager
def _worktree(top: Path, ready: Path, base: str) -> Iterator[Path]:
    _git(top, "worktree", "add", "-q", "--detach", str(ready), base)
    _git(ready, "status")  # its index is fresh: what git merge would have to look at is known
    yield ready


def _git(where: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=where, env=_ENVIRONMENT, check=True, capture_output=True, text=True)
    return done.stdout.strip()
