"""A workspace put back to what was captured, after a check has run in it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from plait.core.task import Attempt
from plait.git.refs import task_branch
from plait.git.worktrees import result_checks
from plait.git.worktrees.agent_worktree import AgentWorktree, open_worktree
from plait.git.worktrees.agent_worktree__scratch import scratch_folder
from plait.git.worktrees.saved_work import WorktreeSavedRefs, save_unreachable
from plait.git.worktrees.tree_snapshot import read_setup_paths, snapshot_worktree

_EXCLUDE_SPECIAL = re.compile(r"([\\*?\[\]!# ])")


def reset_workspace(
    workspace: Path,
    attempt: Attempt,
    tip: str,
    *,
    environment: Mapping[str, str] | None = None,
    common: Path | None = None,
) -> None:
    """Every file as in `tip`, and no others but ignored ones and what outfitting put there; what differs is saved first."""
    branch = task_branch(attempt.batch, attempt.task)
    worktree = open_worktree(workspace, branch, common, environment)
    shelf = WorktreeSavedRefs(worktree, attempt.batch, attempt.task)
    with scratch_folder(worktree.admin) as room:
        snapshot = snapshot_worktree(worktree, room, tip)
        same = snapshot.tree == worktree.tree_of(tip)
        if not same:
            save_unreachable(worktree, shelf, room, snapshot)
        _reset_refs(worktree, shelf, branch, tip)
        result_checks.clear_operation(worktree)
        worktree.install_index(snapshot.index)
    if not same:
        _reset_files(worktree, tip)


def _reset_refs(worktree: AgentWorktree, saved_refs: WorktreeSavedRefs, branch: str, tip: str) -> None:
    """The branch names the tip, and HEAD is on it; commits that a check made are kept."""
    ref = f"refs/heads/{branch}"
    now = worktree.resolve_commit(ref)
    for each in dict.fromkeys((now, worktree.resolve_commit("HEAD"))):
        if each is not None and not worktree.is_descendant(tip, each):
            saved_refs.keep(each)
    worktree.update_refs({ref: (tip, now)})
    worktree.attach_head(branch)


def _reset_files(worktree: AgentWorktree, tip: str) -> None:
    git = worktree.git
    git.run("reset", "--hard", "--quiet", tip)
    # Twice forced: a repository that a check made inside is no part of the tip either.
    git.run("clean", "-ffd", "--quiet", *_exclude_options(read_setup_paths(worktree.admin)))
    if (worktree.path / ".gitmodules").exists() and _have_submodules_moved(worktree):
        git.run("submodule", "update", "--quiet", "--force", "--checkout", "--no-fetch", "--recursive")


def _exclude_options(paths: Sequence[str]) -> list[str]:
    return [word for path in paths for word in ("-e", "/" + _EXCLUDE_SPECIAL.sub(r"\\\1", path))]


def _have_submodules_moved(worktree: AgentWorktree) -> bool:
    said = worktree.git.run("diff-files", "--raw", "-z", "--ignore-submodules=dirty").fields
    return any(" 160000 " in about or about.startswith(":160000") for about in said[::2])
