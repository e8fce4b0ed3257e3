"""Makes a tree from the files of a worktree, whatever its index says: tracked files, and untracked ones that are not ignored.

A private index is seeded from the worktree's, so that only changes are read. An ignored file that the index no longer has
was untracked on purpose. In a sparse checkout, the index stands for the files left out. Files of nested repositories (an
agent's clone, or `git init`) are taken like any others; git would record a commit that exists nowhere else. What setup put
there is left out unless the base has it. Status edits in sources, which are plait's to make, are reverted.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.git.command import Git, join_fields
from plait.git.interfaces import FindStatusRestorer
from plait.git.objects import FILE_MODES, read_blob_sizes, read_objects
from plait.git.worktrees.agent_worktree import VIEW_FOLDER, AgentWorktree
from plait.git.worktrees.checkout import sparse_patterns_path
from plait.git.worktrees.metadata import read_setup_paths

_SKIPPED_TAGS = "Ss"
_BLOCK_BYTES = 512  # of st_blocks
_HOLES_FACTOR = 64  # compressed file systems make ordinary files smaller by less
# Rows of `ls-files`: a file or symlink that is in the index, and one that is not.
_PLAIN_ROWS, _UNTRACKED_ROW = (b"H 100", b"H 120"), b"? "
# Stands for a folder with a repository in it, so that git looks inside; it does not exist as a file, so it is removed again.
_NESTED_REPO_PLACEHOLDER = ".plait-inside"
_MAX_NESTING = 20
_UNTRACKED = ("--others", "--exclude-standard")
# The option overrides a submodule's own `ignore`, which would hide that it is at another commit.
_LIST_CHANGED = ("diff-files", "--name-only", "-z", "--ignore-submodules=dirty")


@dataclass(frozen=True, slots=True)
class IndexRow:
    """An entry of an index; `tag` as in the output of `git ls-files -v`."""

    tag: str
    mode: str
    blob: str
    stage: str
    path: str


@dataclass(frozen=True, slots=True)
class PrivateIndex:
    """A copy of the worktree's index, which `git` uses. `special` are conflicts, submodules, and files hidden from git.

    `changed` are the files that differ from it, apart from hidden ones; None: they are to be searched for.
    """

    path: Path
    git: Git
    special: tuple[IndexRow, ...]
    untracked: tuple[str, ...]
    changed: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A tree of a worktree's files. `git` uses the index that contains it."""

    tree: str
    index: Path
    git: Git


def copy_index(worktree: AgentWorktree, scratch: Path, base: str, *, from_files: bool = False) -> PrivateIndex:
    """Copy the worktree's index. The copy is made from HEAD if the index can't be read, and from the base if
    `from_files`.
    """
    path = scratch / "index"
    git = worktree.git.with_options(variables={"GIT_INDEX_FILE": str(path)})
    listing, changed = _seed_index(worktree, path, git, base, from_files=from_files)
    rows = listing.split(b"\0")
    others = [row for row in rows if row and not row.startswith(_PLAIN_ROWS)]
    untracked = [row for row in others if row.startswith(_UNTRACKED_ROW)]
    special = tuple(_parse_row(row) for row in others if not row.startswith(_UNTRACKED_ROW))
    return PrivateIndex(
        path, git, special, tuple(os.fsdecode(row[len(_UNTRACKED_ROW) :]) for row in untracked), changed
    )


def _parse_row(row: bytes) -> IndexRow:
    header, _, path = os.fsdecode(row).partition("\t")
    tag, mode, blob, stage = header.split(" ")
    return IndexRow(tag, mode, blob, stage, path)


def snapshot_worktree(worktree: AgentWorktree, scratch: Path, base: str) -> Snapshot:
    """Make a snapshot without changing the worktree's index or any file. Its agent may be running."""
    return snapshot_index(worktree, copy_index(worktree, scratch, base), base, scratch)


def snapshot_index(worktree: AgentWorktree, index: PrivateIndex, base: str, scratch: Path | None = None) -> Snapshot:
    """Make a snapshot in this copy of the index. Without `scratch`, a folder for copies, its agent must have ended."""
    git = index.git
    is_copy = not _unhide_files(worktree.path, index)
    setup_paths = read_setup_paths(worktree.gitdir)
    new = [path for path in _find_untracked(index) if not _is_within(path, setup_paths)]
    if is_copy and index.changed is not None and not _has_nested_repositories(index):
        changed = index.changed
    else:
        changed = tuple(git.run(*_LIST_CHANGED).fields)
    paths, reader = [*_remove_untrackable(worktree.path, git, changed), *new], git
    _ensure_room(worktree, paths)
    if scratch is not None and (worktree.gitdir / VIEW_FOLDER).exists():  # a sandboxed agent may be running
        paths, reader = _copy_live_files(worktree.path, git, paths, scratch / "live")
    update_index(reader, paths, "--add", "--remove", "--replace")
    if setup_paths:
        update_index(git, _find_committed_setup_files(git, setup_paths, base), "--force-remove")
    return Snapshot(git.text("write-tree"), index.path, git)


def _ensure_room(worktree: AgentWorktree, paths: Sequence[str]) -> None:
    """Raise WorldError if files consist almost only of holes and the disk has no room for all of them: git would read
    them for hours.
    """
    sizes = {}
    for path in paths:
        with suppress(OSError):
            status = os.lstat(f"{worktree.path}/{path}")
            if stat.S_ISREG(status.st_mode) and status.st_size > _HOLES_FACTOR * _BLOCK_BYTES * status.st_blocks:
                sizes[path] = status.st_size
    if sizes and sum(sizes.values()) > (free := shutil.disk_usage(worktree.repository.common).free):
        path = max(sizes, key=lambda path: sizes[path])
        raise WorldError(
            f"git can't hold {path}: it has {sizes[path] >> 20:,} MiB, almost only holes, and the disk has room for {free >> 20:,}",
            hint=f"Delete it in {worktree.path}, or ignore it with .gitignore.",
        )


def _copy_live_files(top: Path, git: Git, paths: Sequence[str], copies: Path) -> tuple[list[str], Git]:
    """Copy the files of a running agent; return their paths, without submodules, and a git that reads the copies."""
    from plait.git.worktrees.live_copy import copy_live_files  # only where there are sandboxes

    copies.mkdir()
    reader = git.with_options(variables={"GIT_WORK_TREE": str(copies)})
    reader.cwd = copies
    return copy_live_files(top, paths, copies), reader


def update_index(git: Git, paths: Iterable[str], *options: str) -> None:
    """Update the index at these paths."""
    if feed := join_fields(paths):
        git.run("update-index", *options, "-z", "--stdin", stdin=feed)


def _seed_index(
    worktree: AgentWorktree, index: Path, git: Git, base: str, *, from_files: bool
) -> tuple[bytes, tuple[str, ...] | None]:
    """Seed the index; return its listing with untracked files, and the changed files if they are known.

    Both questions are asked at the same time, since each takes a git process.
    """
    listing = ("ls-files", "-v", "-z", "--stage", "--cached", *_UNTRACKED)
    if not from_files:
        with suppress(FileNotFoundError):
            # With its time: git looks again at files that are as new as the index.
            shutil.copy2(worktree.gitdir / "index", index)
            with (
                git.start(*listing, codes=(0, 128)) as wait_for_listing,
                git.start(*_LIST_CHANGED) as wait_for_changed,
            ):
                output = wait_for_listing()
                if output.code == 0:
                    return output.out, tuple(wait_for_changed().fields)
    index.unlink(missing_ok=True)
    head = None if from_files else worktree.git.resolve_commit("HEAD")
    git.run("read-tree", "--reset", head or base)
    _mark_skipped(worktree, git)
    return git.run(*listing).out, None


def _mark_skipped(worktree: AgentWorktree, git: Git) -> None:
    """Mark files that a sparse checkout leaves out, matching its patterns as ignore rules."""
    patterns = sparse_patterns_path(worktree.gitdir)
    if git.read_bool("core.sparseCheckout") and patterns.is_file():
        included = set(git.run("ls-files", "-z", "--cached", "--ignored", f"--exclude-from={patterns}").fields)
        update_index(
            git, [path for path in git.run("ls-files", "-z").fields if path not in included], "--skip-worktree"
        )


def _unhide_files(top: Path, index: PrivateIndex) -> bool:
    """Clear flags that hide files from git, except for absent files of a sparse checkout. Whether any were set."""
    unwatched = [row.path for row in index.special if row.tag.islower()]
    update_index(index.git, unwatched, "--no-assume-unchanged")
    skipped = [row.path for row in index.special if row.tag in _SKIPPED_TAGS and os.path.lexists(top / row.path)]
    update_index(index.git, skipped, "--no-skip-worktree")
    return bool(unwatched or skipped)


def _remove_untrackable(top: Path, git: Git, paths: Sequence[str]) -> list[str]:
    """Return the changed files that can be in the index; remove the others from it."""
    changed = dict.fromkeys(paths)
    trackable = [path for path in changed if _is_trackable(top, path)]
    update_index(git, changed.keys() - set(trackable), "--force-remove")
    return trackable


def _is_trackable(top: Path, path: str) -> bool:
    """Whether git can store the file: it is no FIFO, and not reached through a symlink."""
    file = top / path
    try:
        mode = file.lstat().st_mode
    except OSError:
        return False
    has_known_type = stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode)
    return has_known_type and os.path.realpath(file.parent) == str(file.parent)


def _find_untracked(index: PrivateIndex) -> list[str]:
    git, paths = index.git, [*index.untracked]
    for _ in range(_MAX_NESTING):
        folders = [path for path in paths if path.endswith("/")]
        if not folders:
            break
        blob = git.text("hash-object", "-t", "blob", "-w", "--stdin")
        rows = join_fields(f"100644 {blob}\t{path}{_NESTED_REPO_PLACEHOLDER}" for path in folders)
        git.run("update-index", "-z", "--index-info", stdin=rows)
        paths = git.run("ls-files", "-z", *_UNTRACKED).fields
    return [path for path in paths if not path.endswith("/")]


def _has_nested_repositories(index: PrivateIndex) -> bool:
    return any(path.endswith("/") for path in index.untracked)


def _is_within(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def _find_committed_setup_files(git: Git, setup_paths: Sequence[str], base: str) -> list[str]:
    """List files that setup made and an agent has staged or committed."""
    tracked = git.run("ls-files", "-z", "--", *setup_paths).fields
    in_base = set(git.run("ls-tree", "-r", "-z", "--name-only", base, "--", *setup_paths).fields) if tracked else set()
    return [path for path in tracked if path not in in_base]


@dataclass(frozen=True, slots=True)
class TreeChange:
    """A path that differs. `added` and `removed` are numbers of lines: 0 in binary files, in which git counts none."""

    path: str
    base_mode: str
    mode: str
    base_blob: str
    blob: str
    added: int
    removed: int


def list_changes(git: Git, base: str, tree: str, max_counted_bytes: int = 0) -> tuple[TreeChange, ...]:
    """List the paths that differ, and how many lines. Lines of files over `max_counted_bytes` (0: git's own limit)
    aren't counted.

    A renamed file has two paths. The new one has the lines that differ, as in `git diff`.
    """
    if max_counted_bytes:
        git = git.with_options(settings=[f"core.bigFileThreshold={max_counted_bytes + 1}"])
    args = ("diff-tree", "-r", "-z", "--numstat", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none")
    fields = git.run(*args, "--raw", "--no-renames", base, tree).fields
    count = len(fields) // 3
    rows = zip(fields[: 2 * count : 2], fields[1 : 2 * count : 2], fields[2 * count :], strict=True)
    changes = []
    for header, path, numbers in rows:
        base_mode, mode, base_blob, blob, _ = header.removeprefix(":").split(" ")
        changes.append(TreeChange(path, base_mode, mode, base_blob, blob, *_read_line_counts(numbers)))
    if any(change.mode == _NO_MODE for change in changes) and any(change.base_mode == _NO_MODE for change in changes):
        renames = git.run(*args, "--find-renames", "--diff-filter=R", base, tree).fields
        counts = dict.fromkeys(renames[1::3], (0, 0))
        counts |= {path: _read_line_counts(numbers) for numbers, path in zip(renames[::3], renames[2::3], strict=True)}
        for place, change in enumerate(changes):
            if change.path in counts:
                added, removed = counts[change.path]
                changes[place] = replace(change, added=added, removed=removed)
    return tuple(changes)


_NO_MODE = "000000"  # of a path that one side doesn't have


def _read_line_counts(row: str) -> tuple[int, int]:
    """Read the line counts of a row by `--numstat`, which has `-` for binary files."""
    added, removed, _ = row.split("\t", 2)
    return (int(added), int(removed)) if added.isdecimal() else (0, 0)


# No source is larger, and restoring one reads all of it.
MAX_RESTORE_BYTES = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class CleanedSnapshot:
    """A snapshot without status edits. `changed` are the files that differ from those in the folder."""

    tree: str
    changed: tuple[str, ...] = ()
    reverted_sources: tuple[str, ...] = ()


def revert_status_edits(
    snapshot: Snapshot, changes: Sequence[TreeChange], find_restorer: FindStatusRestorer
) -> CleanedSnapshot:
    """Restore the base's statuses in the sources that changed since, also in the index."""
    git = snapshot.git
    changed: list[str] = []
    reverted_sources: list[str] = []
    rows: list[str] = []
    for change in changes:
        path, mode, base_mode, blobs = change.path, change.mode, change.base_mode, (change.base_blob, change.blob)
        restore = find_restorer(path) if {base_mode, mode} <= FILE_MODES and len({*blobs}) > 1 else None
        if restore is None or max(read_blob_sizes(git, blobs).values()) > MAX_RESTORE_BYTES:
            continue
        old, new = (blob_object.data for blob_object in read_objects(git, blobs) if blob_object is not None)
        restored = restore(old, new)
        if restored == new:
            continue
        changed.append(path)
        if restored == old and mode == base_mode:
            reverted_sources.append(path)
        blob = git.text("hash-object", "-w", "-t", "blob", "--stdin", stdin=restored)
        rows.append(f"{mode} {blob}\t{path}")
    if not rows:
        return CleanedSnapshot(snapshot.tree)
    git.run("update-index", "-z", "--index-info", stdin=join_fields(rows))
    return CleanedSnapshot(git.text("write-tree"), tuple(changed), tuple(reverted_sources))


def write_to_worktree(snapshot: Snapshot, paths: tuple[str, ...]) -> None:
    """Write these files from the index into the folder."""
    if paths:
        snapshot.git.run("checkout-index", "--force", "--index", "-z", "--stdin", stdin=join_fields(paths))
