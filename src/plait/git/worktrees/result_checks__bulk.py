"""Files that are too large for a result: the hosts of repositories refuse a push with one in it, and with it all the others'.

What counts is what git holds: a file that a filter makes small, as Git LFS does, is small.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.git.worktrees.agent_worktree import AgentWorktree
from plait.git.worktrees.result_checks import UnfinishedError

_FILE_MODES = {"100644", "100755"}
_MAX_FILES_NAMED = 5
_MIB = 2**20


@dataclass(frozen=True, slots=True)
class LargeFile:
    path: str
    size: int


def find_large_files(worktree: AgentWorktree, base: str, tree: str, max_bytes: int) -> list[LargeFile]:
    """The files of this tree that the base holds nowhere, and that are larger than `most` bytes; 0: none is too large."""
    if not max_bytes:
        return []
    words = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", "--no-textconv")
    told = worktree.git.run(*words, base, tree).fields
    rows = ((row.split(), path) for row, path in zip(told[::2], told[1::2], strict=True))
    blobs = {
        path: row[3]
        for row, path in rows
        if row[1] in _FILE_MODES and _may_be_large(worktree.path / path, max_bytes)
    }
    large = _find_large_blobs(worktree, max_bytes, tree, f"^{base}^{{tree}}") if blobs else frozenset()
    found = {path: blob for path, blob in blobs.items() if blob in large}
    return [LargeFile(path, int(worktree.git.text("cat-file", "-s", blob))) for path, blob in found.items()]


def has_large_blobs(worktree: AgentWorktree, base: str, heads: Sequence[str], max_bytes: int) -> bool:
    """Whether the commits after the base hold such a file, even one that is gone again: a push would carry it."""
    later = [head for head in heads if head != base]
    return bool(max_bytes and later and _find_large_blobs(worktree, max_bytes, *later, f"^{base}"))


def _find_large_blobs(worktree: AgentWorktree, max_bytes: int, *revisions: str) -> frozenset[str]:
    """Of these objects, the blobs of more than `most` bytes. What a partial clone lacks its host has: none is fetched."""
    words = ("rev-list", "--objects", "--missing=allow-promisor", f"--filter=blob:limit={max_bytes + 1}")
    told = worktree.git.text(*words, "--filter-print-omitted", *revisions).split("\n")
    return frozenset(line[1:] for line in told if line.startswith("~"))


def make_large_files_error(found: Sequence[LargeFile], max_bytes: int, saved: str | None) -> UnfinishedError:
    shown = ", ".join(f"{each.path} ({_format_size(each.size)})" for each in found[:_MAX_FILES_NAMED])
    more = f" and {len(found) - _MAX_FILES_NAMED} more" if len(found) > _MAX_FILES_NAMED else ""
    kept = f" What it made is saved as {saved}." if saved else ""
    return UnfinishedError(
        f"the result holds {shown}{more}: larger than workspace.largest_file, {_format_size(max_bytes)}, and most hosts refuse a "
        "push with such a file; leave it out of the result, ignore it by .gitignore, or keep it in Git LFS",
        hint=f"Where such files are wanted, raise workspace.largest_file.{kept}",
    )


def _format_size(size: int) -> str:
    return f"{size / _MIB:.0f} MiB" if size >= _MIB else f"{size} bytes"


def _may_be_large(path: Path, max_bytes: int) -> bool:
    """A look at the folder spares git from being asked about every file."""
    try:
        return path.lstat().st_size > max_bytes
    except OSError:
        return True  # not as the tree has it: git knows
