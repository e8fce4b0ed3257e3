"""Saves work that no ref reaches under refs/plait/saved, before a worktree is reset or given back."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from plait.core.errors import WorldError
from plait.git.command import PLAIT_IDENTITY, Git, GitError
from plait.git.refs import task_branch
from plait.git.worktrees.agent_worktree import AgentWorktree, open_worktree, scratch_folder
from plait.git.worktrees.result_checks import read_merge_heads, read_stashed_commits
from plait.git.worktrees.saved_refs import SavedRefs
from plait.git.worktrees.submodules import save_submodule
from plait.git.worktrees.tree_snapshot import Snapshot, snapshot_worktree
from plait.git.worktrees.worktree import Worktree, is_real_folder, list_children, read_small_file


def save_worktree(saved_refs: SavedRefs, worktree: Worktree) -> None:
    """Raises WorldError if something cannot be saved: then nothing may be removed."""
    try:
        _save_parts(saved_refs, worktree)
    except OSError as error:
        raise WorldError(f"what is in {worktree.folder} can't be saved: {error}") from error


def _save_parts(saved_refs: SavedRefs, worktree: Worktree) -> None:
    admin = worktree.admin
    for module in list_submodule_dirs(admin) if admin is not None else ():
        save_submodule(saved_refs, module)
    if is_real_folder(worktree.folder):
        save_workspace(saved_refs, worktree.folder)
    elif admin is not None:
        _save_admin(saved_refs, admin)


def list_submodule_dirs(folder: Path, inside: str = "modules") -> Iterator[Path]:
    """The git folders of submodules, recursively. Their names may contain slashes."""
    for each in list_children(folder / inside):
        if (each / "HEAD").is_file():
            yield each
            yield from list_submodule_dirs(each)
        elif is_real_folder(each):
            yield from list_submodule_dirs(each, "")


def _save_admin(saved_refs: SavedRefs, admin: Path) -> None:
    """The folder was removed; save what was committed or staged in it."""
    name = read_small_file(admin / "HEAD").rstrip("\n").removeprefix("ref: ")
    branch = f"refs/heads/{task_branch(saved_refs.batch, saved_refs.task)}"
    head = saved_refs.repository.resolve_commit(name or branch)
    if head is None:
        return
    git = saved_refs.repository.git_at(admin, admin)
    output = git.run("write-tree", codes=(0, 128)) if os.path.lexists(admin / "index") else None
    before = git.text("rev-parse", f"{head}^{{tree}}")
    if output is not None and output.code == 0 and output.text != before:
        saved_refs.save_tree(git, output.text, head)
    else:
        saved_refs.keep_unreachable(head)


def save_workspace(saved_refs: SavedRefs, workspace: Path) -> str | None:
    """Save whatever no ref reaches as a commit under refs/plait/saved: that ref, or None if there is nothing.

    Files, also untracked ones; the index, where it differs; commits on no branch. Index and files are not changed.
    """
    branch = task_branch(saved_refs.batch, saved_refs.task)
    worktree = open_worktree(saved_refs.repository, workspace, branch)
    with scratch_folder(worktree.admin) as scratch:
        return save_unreachable(worktree, saved_refs, scratch)


def save_unreachable(
    worktree: AgentWorktree, saved_refs: SavedRefs, scratch: Path, taken: Snapshot | None = None
) -> str | None:
    head = worktree.resolve_commit("HEAD")
    now = worktree.tree_of(head) if head else worktree.git.text("mktree")  # without a file
    snapshot = taken or snapshot_worktree(worktree, scratch, head or now)
    parents = [head] if head else []
    staged = _write_staged_tree(worktree, scratch, {now, snapshot.tree})
    if staged is not None:
        parents.append(_make_commit(worktree.git, staged, parents, b"What was staged\n"))
    lost = [commit for commit in _find_loose_commits(worktree, head) if commit not in parents]
    if staged is None and snapshot.tree == now and not _has_unreachable(worktree, [*parents, *lost]):
        return None
    parents += lost
    existing = saved_refs.find_equal(snapshot.tree, parents)
    return existing or saved_refs.keep(
        _make_commit(worktree.git, snapshot.tree, parents, b"What was in the workspace\n")
    )


def fetch_replaced_repositories(worktree: AgentWorktree) -> dict[Path, str]:
    """Fetch the commits of repositories that an agent made in place of the worktree's; HEAD by moved-away git folder."""
    found: dict[Path, str] = {}
    for left in worktree.admin.glob("plait-left-*"):
        own = worktree.git.with_options(variables={"GIT_DIR": str(left), "GIT_COMMON_DIR": str(left)})
        with suppress(GitError):
            commit = own.text("rev-parse", "--verify", "HEAD^{commit}")
            worktree.git.run("fetch", "--no-tags", "--no-write-fetch-head", "--quiet", str(left), "HEAD")
            found[left] = commit
    return found


def _find_loose_commits(worktree: AgentWorktree, head: str | None) -> Iterator[str]:
    """The commits that only this worktree's own records name."""
    for commit in dict.fromkeys(
        [
            *read_merge_heads(worktree),
            *read_stashed_commits(worktree),
            *fetch_replaced_repositories(worktree).values(),
        ]
    ):
        if commit != head and _has_unreachable(worktree, [commit]):
            yield commit


def _has_unreachable(worktree: AgentWorktree, commits: Sequence[str]) -> bool:
    """Whether one of them is reachable from no ref except saved ones (HEAD is no ref here)."""
    args = ("rev-list", "--max-count=1", *commits, "--not", "--exclude=refs/plait/saved/*", "--glob=refs/*")
    return bool(commits) and bool(worktree.git.text(*args))


def _write_staged_tree(worktree: AgentWorktree, scratch: Path, known: set[str]) -> str | None:
    """The index as a tree, if it is not known yet. An index with conflicts adds nothing to its commits."""
    copy = scratch / "staged"
    with suppress(OSError):
        shutil.copyfile(worktree.admin / "index", copy)
        git = worktree.git.with_options(variables={"GIT_INDEX_FILE": str(copy)})
        output = git.run("write-tree", codes=(0, 128))
        return output.text if output.code == 0 and output.text not in known else None
    return None


def _make_commit(git: Git, tree: str, parents: Sequence[str], message: bytes) -> str:
    return git.with_options(variables=PLAIT_IDENTITY).commit_tree(tree, parents, message)
