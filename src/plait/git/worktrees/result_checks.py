"""Checks of what an agent left: unfinished git operations, edited submodules, and files that are too large to push.

The size of a file is that of its blob: a file that a filter such as Git LFS makes small is small.
"""

from __future__ import annotations

import re
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from plait.core.errors import AgentError
from plait.core.text import join_names
from plait.git.command import Git
from plait.git.objects import FILE_MODES, GITLINK_MODE, read_blob_sizes
from plait.git.worktrees.agent_worktree import AgentWorktree
from plait.git.worktrees.metadata import read_setup_paths
from plait.git.worktrees.submodule_changes import find_lost_changes, has_new_gitlink
from plait.git.worktrees.tree_snapshot import PrivateIndex, TreeChange
from plait.system.atomic_files import read_regular_file

_OPERATION_FOLDERS = {"rebase-merge": "rebase", "rebase-apply": "rebase", "sequencer": "cherry-pick"}
_OPERATION_FILES = {
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "REBASE_HEAD": "rebase",
    "BISECT_LOG": "bisection",
}
_OTHER_OPERATION_FILES = (
    "MERGE_MODE",
    "MERGE_MSG",
    "MERGE_RR",
    "MERGE_AUTOSTASH",
    "AUTO_MERGE",
    "SQUASH_MSG",
)
# Where commits are named that nothing else may reach: what a rebase started from, and what was put aside for it.
_STASHED_COMMIT_FILES = (
    "MERGE_AUTOSTASH",
    "rebase-merge/autostash",
    "rebase-merge/orig-head",
    "rebase-apply/autostash",
    "rebase-apply/orig-head",
)
_CONFLICT_MARKER = re.compile(rb"^(?:<{7,}|>{7,})(?: |\r?$)", re.MULTILINE)
_BINARY_PROBE_BYTES = 8000  # as many as git checks
_MAX_SEARCHED_BYTES = (
    256 << 20
)  # no larger file is searched for conflict markers: an agent may have left one of any size
_BOTH_SIDES = {"2", "3"}
_MAX_NAMED = 5


class UnfinishedError(AgentError):
    """The result can't be captured; it is saved, and the workspace was not changed."""


def check_finished(worktree: AgentWorktree, index: PrivateIndex, base: str) -> UnfinishedError | None:
    """Return the error for unresolved conflicts, or for changes in a submodule that no commit of this repository can
    hold; None if there are none.
    """
    if files := _find_unresolved_files(worktree, index):
        names = {**_OPERATION_FOLDERS, **_OPERATION_FILES}
        operation = next((operation for name, operation in names.items() if (worktree.gitdir / name).exists()), "merge")
        return UnfinishedError(
            f"the agent left a {operation} unfinished, with conflicts in {join_names(files, _MAX_NAMED)}"
        )
    has_gitlinks = any(row.mode == GITLINK_MODE for row in index.special)
    if has_submodules(worktree) or (has_gitlinks and has_new_gitlink(worktree.git, base)):
        lost = find_lost_changes(worktree.git, read_setup_paths(worktree.gitdir))
        return UnfinishedError(lost[0], hint=lost[1]) if lost else None
    return None


def _find_unresolved_files(worktree: AgentWorktree, index: PrivateIndex) -> list[str]:
    """List the unmerged files that are not resolved."""
    stages: dict[str, dict[str, str]] = {}
    for row in index.special:
        if row.stage != "0":
            stages.setdefault(row.path, {})[row.stage] = row.blob
    return [path for path, blobs in stages.items() if _is_unresolved(worktree, path, blobs)]


def has_submodules(worktree: AgentWorktree) -> bool:
    """Whether the worktree may have submodules. Most repositories have none, and listing all files to find out takes
    time.
    """
    return any(path.exists() for path in (worktree.path / ".gitmodules", worktree.gitdir / "modules"))


def read_merge_heads(worktree: AgentWorktree) -> list[str]:
    """List the commits that an unfinished merge would merge."""
    try:
        names = (worktree.gitdir / "MERGE_HEAD").read_text(encoding="ascii").split()
    except (OSError, UnicodeDecodeError):
        return []
    return [commit for name in names if (commit := worktree.git.resolve_commit(name)) is not None]


def read_recorded_commits(worktree: AgentWorktree) -> list[str]:
    """List the commits that only the records of an unfinished operation name."""
    names = [worktree.read_first_line(name) for name in _STASHED_COMMIT_FILES]
    stashed = [
        commit
        for commit_name in names
        if commit_name and (commit := worktree.git.resolve_commit(commit_name)) is not None
    ]
    return [*read_merge_heads(worktree), *stashed]


def clear_operation(worktree: AgentWorktree) -> None:
    """End any unfinished operation; files and index stay."""
    for path in _operation_files(worktree.gitdir):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _operation_files(gitdir: Path) -> Iterator[Path]:
    yield from (gitdir / name for name in (*_OPERATION_FOLDERS, *_OPERATION_FILES, *_OTHER_OPERATION_FILES))
    yield from gitdir.glob("BISECT_*")
    yield gitdir / "refs" / "bisect"


def _is_unresolved(worktree: AgentWorktree, path: str, blobs: Mapping[str, str]) -> bool:
    """Whether the file has conflict markers or, if git sets none (binary, deleted on one side), is the same as on one
    side.
    """
    try:
        status = (worktree.path / path).lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_SEARCHED_BYTES:
            return False
        data = read_regular_file(worktree.path / path, _MAX_SEARCHED_BYTES)
    except OSError:
        return False  # deleted, or something else by now
    if _CONFLICT_MARKER.search(data):
        return True
    if blobs.keys() >= _BOTH_SIDES and b"\0" not in data[:_BINARY_PROBE_BYTES]:
        return False
    return worktree.git.text("hash-object", "--", path) in blobs.values()


_MIB = 2**20


def check_file_sizes(  # noqa: PLR0913, PLR0917 - where, what and how much
    git: Git, base: str, tree: str, changes: Sequence[TreeChange], max_bytes: int, folder: Path | None = None
) -> UnfinishedError | None:
    """Return the error for files that are new since the base and larger than `max_bytes` (0: no limit); None if there
    are none.

    `folder` has the files of the tree, or most of them, so that git need not be asked about each.
    """
    sizes = _find_large_files(git, base, tree, changes, max_bytes, folder) if max_bytes else {}
    if not sizes:
        return None
    names = join_names([f"{path} ({_format_size(size)})" for path, size in sizes.items()], _MAX_NAMED)
    return UnfinishedError(
        f"the result contains {names}: larger than workspace.largest_file, {_format_size(max_bytes)}, and most hosts refuse a "
        "push with such a file; leave it out of the result, ignore it with .gitignore, or keep it in Git LFS",
        hint="Where such files are wanted, raise workspace.largest_file.",
    )


def _find_large_files(  # noqa: PLR0913, PLR0917 - as check_file_sizes
    git: Git, base: str, tree: str, changes: Sequence[TreeChange], max_bytes: int, folder: Path | None
) -> dict[str, int]:
    """Return the sizes of the files that are too large, by path."""
    blobs = {each.path: each.blob for each in changes if each.mode in FILE_MODES}
    if folder is None:
        sizes = read_blob_sizes(git, [*blobs.values()])
        blobs = {path: blob for path, blob in blobs.items() if sizes.get(blob, 0) > max_bytes}
    else:
        blobs = {path: blob for path, blob in blobs.items() if _may_be_large(folder / path, max_bytes)}
    # Without those that the base has elsewhere.
    large = _find_large_blobs(git, max_bytes, tree, f"^{base}^{{tree}}") if blobs else frozenset()
    large_blobs = {path: blob for path, blob in blobs.items() if blob in large}
    return {path: int(git.text("cat-file", "-s", blob)) for path, blob in large_blobs.items()}


def has_large_blobs(git: Git, base: str, heads: Sequence[str], max_bytes: int) -> bool:
    """Whether a commit after the base has a file that is too large, even a deleted one: a push would include it."""
    later = [head for head in heads if head != base]
    return bool(max_bytes and later and _find_large_blobs(git, max_bytes, *later, f"^{base}"))


def _find_large_blobs(git: Git, max_bytes: int, *revisions: str) -> frozenset[str]:
    """Return the blobs over the limit. Objects that a partial clone lacks are on the host already, and not fetched."""
    args = ("rev-list", "--objects", "--missing=allow-promisor", f"--filter=blob:limit={max_bytes + 1}")
    fields = git.text(*args, "--filter-print-omitted", *revisions).split("\n")
    return frozenset(line[1:] for line in fields if line.startswith("~"))


def _format_size(size: int) -> str:
    return f"{size / _MIB:.0f} MiB" if size >= _MIB else f"{size} bytes"


def _may_be_large(path: Path, max_bytes: int) -> bool:
    """Whether the file in the folder is large, so that git need not be asked about every file. True if it is not as in
    the tree.
    """
    try:
        return path.lstat().st_size > max_bytes
    except OSError:
        return True  # not as the tree has it: git knows
