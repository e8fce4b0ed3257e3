"""A workspace put back to what was captured, after a check has run in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from plait.core.task import Attempt
from plait.site.capture import unfinished
from plait.site.capture.saving import Shelf, save_all
from plait.site.capture.scratch import scratch
from plait.site.capture.snapshot import look, outfitted
from plait.site.capture.worktree import Worktree, find
from plait.site.refs import task_branch

_SPECIAL = re.compile(r"([\\*?\[\]!# ])")


def put_back(
    workspace: Path,
    attempt: Attempt,
    tip: str,
    *,
    environment: Mapping[str, str] | None = None,
    common: Path | None = None,
) -> None:
    """Every file as in `tip`, and no others but ignored ones and what outfitting put there; what differs is saved first."""
    branch = task_branch(attempt.batch, attempt.task)
    worktree = find(workspace, branch, common, environment)
    shelf = Shelf(worktree, attempt.batch, attempt.task)
    with scratch(worktree.admin) as room:
        snapshot = look(worktree, room, tip)
        same = snapshot.tree == worktree.tree(tip)
        if not same:
            save_all(worktree, shelf, room, snapshot)
        _point(worktree, shelf, branch, tip)
        unfinished.forget(worktree)
        worktree.install(snapshot.index)
    if not same:
        _reset(worktree, tip)


def _point(worktree: Worktree, shelf: Shelf, branch: str, tip: str) -> None:
    """The branch names the tip, and HEAD is on it; commits that a check made are kept."""
    ref = f"refs/heads/{branch}"
    now = worktree.commit(ref)
    for each in dict.fromkeys((now, worktree.commit("HEAD"))):
        if each is not None and not worktree.descends(tip, each):
            shelf.keep(each)
    worktree.update({ref: (tip, now)})
    worktree.attach(branch)


def _reset(worktree: Worktree, tip: str) -> None:
    git = worktree.git
    git.run("reset", "--hard", "--quiet", tip)
    # Twice forced: a repository that a check made inside is no part of the tip either.
    git.run("clean", "-ffd", "--quiet", *_except(outfitted(worktree.admin)))
    if (worktree.path / ".gitmodules").exists() and _submodules_moved(worktree):
        git.run("submodule", "update", "--quiet", "--force", "--checkout", "--no-fetch", "--recursive")


def _except(paths: Sequence[str]) -> list[str]:
    return [word for path in paths for word in ("-e", "/" + _SPECIAL.sub(r"\\\1", path))]


def _submodules_moved(worktree: Worktree) -> bool:
    said = worktree.git.run("diff-files", "--raw", "-z", "--ignore-submodules=dirty").words
    return any(" 160000 " in about or about.startswith(":160000") for about in said[::2])
