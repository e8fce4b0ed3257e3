"""Files that are too large for a result: the hosts of repositories refuse a push with one in it, and with it all the others'.

What counts is what git holds: a file that a filter makes small, as Git LFS does, is small.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from plait.core.frozen import dataclass
from plait.site.capture.unfinished import UnfinishedError
from plait.site.capture.worktree import Worktree

_FILES = {"100644", "100755"}
_NAMED = 5
_MIB = 2**20


@dataclass(frozen=True, slots=True)
class Bulky:
    path: str
    size: int


def too_large(worktree: Worktree, base: str, tree: str, most: int) -> list[Bulky]:
    """The files of this tree that the base holds nowhere, and that are larger than `most` bytes; 0: none is too large."""
    if not most:
        return []
    words = ("diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-ext-diff", "--no-textconv")
    told = worktree.git.run(*words, base, tree).words
    rows = ((row.split(), path) for row, path in zip(told[::2], told[1::2], strict=True))
    blobs = {path: row[3] for row, path in rows if row[1] in _FILES and _is_large(worktree.path / path, most)}
    large = _large(worktree, most, tree, f"^{base}^{{tree}}") if blobs else frozenset()
    found = {path: blob for path, blob in blobs.items() if blob in large}
    return [Bulky(path, int(worktree.git.text("cat-file", "-s", blob))) for path, blob in found.items()]


def burdened(worktree: Worktree, base: str, heads: Sequence[str], most: int) -> bool:
    """Whether the commits after the base hold such a file, even one that is gone again: a push would carry it."""
    later = [head for head in heads if head != base]
    return bool(most and later and _large(worktree, most, *later, f"^{base}"))


def _large(worktree: Worktree, most: int, *which: str) -> frozenset[str]:
    """Of these objects, the blobs of more than `most` bytes. What a partial clone lacks its host has: none is fetched."""
    words = ("rev-list", "--objects", "--missing=allow-promisor", f"--filter=blob:limit={most + 1}")
    told = worktree.git.text(*words, "--filter-print-omitted", *which).split("\n")
    return frozenset(line[1:] for line in told if line.startswith("~"))


def error(found: Sequence[Bulky], most: int, saved: str | None) -> UnfinishedError:
    shown = ", ".join(f"{each.path} ({_told(each.size)})" for each in found[:_NAMED])
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    kept = f" What it made is saved as {saved}." if saved else ""
    return UnfinishedError(
        f"the result holds {shown}{more}: larger than workspace.largest_file, {_told(most)}, and most hosts refuse a "
        "push with such a file; leave it out of the result, ignore it by .gitignore, or keep it in Git LFS",
        hint=f"Where such files are wanted, raise workspace.largest_file.{kept}",
    )


def _told(size: int) -> str:
    return f"{size / _MIB:.0f} MiB" if size >= _MIB else f"{size} bytes"


def _is_large(path: Path, most: int) -> bool:
    """A look at the folder spares git from being asked about every file."""
    try:
        return path.lstat().st_size > most
    except OSError:
        return True  # not as the tree has it: git knows
