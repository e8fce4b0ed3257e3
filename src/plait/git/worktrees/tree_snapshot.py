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
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.git.command import Git, join_fields
from plait.git.interfaces import FindStatusRestorer
from plait.git.objects import read_blob_sizes, read_objects
from plait.git.worktrees.agent_worktree import AgentWorktree
from plait.git.worktrees.checkout import sparse_patterns_path
from plait.git.worktrees.metadata import read_setup_paths

_TRACKED_TAG = b"H"
_SKIPPED_TAGS = b"Ss"
# Stands for a folder with a repository in it, so that git looks inside; it does not exist as a file, so it is removed again.
_NESTED_REPO_PLACEHOLDER = ".plait-inside"
_MAX_NESTING = 20


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`git` uses the index that holds it."""

    tree: str
    index: Path
    git: Git


def snapshot_worktree(worktree: AgentWorktree, scratch: Path, base: str, *, from_files: bool = False) -> Snapshot:
    """Changes neither the worktree's index nor any file. `from_files`: every file is read, and the index is not used."""
    index = scratch / "index"
    git = worktree.git.with_options(variables={"GIT_INDEX_FILE": str(index)})
    _unhide_files(worktree.path, git, _seed_index(worktree, index, git, base, from_files=from_files))
    setup_paths = read_setup_paths(worktree.gitdir)
    new = [path for path in _find_untracked(git) if not _is_within(path, setup_paths)]
    update_index(git, [*_find_changed(worktree.path, git), *new], "--add", "--remove", "--replace")
    if setup_paths:
        update_index(git, _find_committed_setup_files(git, setup_paths, base), "--force-remove")
    return Snapshot(git.text("write-tree"), index, git)


def update_index(git: Git, paths: Iterable[str], *options: str) -> None:
    """Update the index at these paths."""
    if feed := join_fields(paths):
        git.run("update-index", *options, "-z", "--stdin", stdin=feed)


def _seed_index(worktree: AgentWorktree, index: Path, git: Git, base: str, *, from_files: bool) -> bytes:
    """The listing of the seeded index; from HEAD if the index of the worktree cannot be read."""
    listing = ("ls-files", "-v", "-z")
    if not from_files:
        with suppress(FileNotFoundError):
            # With its time: git looks again at files that are as new as the index.
            shutil.copy2(worktree.gitdir / "index", index)
            output = git.run(*listing, codes=(0, 128))
            if output.code == 0:
                return output.out
    index.unlink(missing_ok=True)
    head = None if from_files else worktree.git.resolve_commit("HEAD")
    git.run("read-tree", "--reset", head or base)
    _mark_skipped(worktree, git)
    return git.run(*listing).out


def _mark_skipped(worktree: AgentWorktree, git: Git) -> None:
    """Mark files that a sparse checkout leaves out, matching its patterns as ignore rules."""
    patterns = sparse_patterns_path(worktree.gitdir)
    if git.read_bool("core.sparseCheckout") and patterns.is_file():
        included = set(git.run("ls-files", "-z", "--cached", "--ignored", f"--exclude-from={patterns}").fields)
        update_index(
            git, [path for path in git.run("ls-files", "-z").fields if path not in included], "--skip-worktree"
        )


def _unhide_files(top: Path, git: Git, output: bytes) -> None:
    """Clear flags that hide files from git, except for absent files of a sparse checkout."""
    marked = [line for line in output.split(b"\0") if line and not line.startswith(_TRACKED_TAG)]
    paths = [(line[:1], os.fsdecode(line[2:])) for line in marked]
    update_index(git, [path for tag, path in paths if tag.islower()], "--no-assume-unchanged")
    update_index(
        git,
        [path for tag, path in paths if tag in _SKIPPED_TAGS and os.path.lexists(top / path)],
        "--no-skip-worktree",
    )


def _find_changed(top: Path, git: Git) -> list[str]:
    """The tracked files that differ from the index; those that are gone are removed from it."""
    # The option overrides a submodule's own `ignore`, which would hide that it is at another commit.
    changed = dict.fromkeys(git.run("diff-files", "--name-only", "-z", "--ignore-submodules=dirty").fields)
    trackable = [path for path in changed if _is_trackable(top, path)]
    update_index(git, changed.keys() - set(trackable), "--force-remove")
    return trackable


def _is_trackable(top: Path, path: str) -> bool:
    """Whether git can hold it: no FIFO, and not reached through a symlink."""
    file = top / path
    try:
        mode = file.lstat().st_mode
    except OSError:
        return False
    has_known_type = stat.S_ISREG(mode) or stat.S_ISLNK(mode) or stat.S_ISDIR(mode)
    return has_known_type and os.path.realpath(file.parent) == str(file.parent)


def _find_untracked(git: Git) -> list[str]:
    args = ("ls-files", "--others", "--exclude-standard", "-z")
    paths = git.run(*args).fields
    for _ in range(_MAX_NESTING):
        folders = [path for path in paths if path.endswith("/")]
        if not folders:
            break
        blob = git.text("hash-object", "-t", "blob", "-w", "--stdin")
        rows = join_fields(f"100644 {blob}\t{path}{_NESTED_REPO_PLACEHOLDER}" for path in folders)
        git.run("update-index", "-z", "--index-info", stdin=rows)
        paths = git.run(*args).fields
    return [path for path in paths if not path.endswith("/")]


def _is_within(path: str, folders: Sequence[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}/") for folder in folders)


def _find_committed_setup_files(git: Git, setup_paths: Sequence[str], base: str) -> list[str]:
    """Files that setup made and an agent has staged or committed."""
    tracked = git.run("ls-files", "-z", "--", *setup_paths).fields
    in_base = set(git.run("ls-tree", "-r", "-z", "--name-only", base, "--", *setup_paths).fields) if tracked else set()
    return [path for path in tracked if path not in in_base]


# No source is larger, and restoring one reads all of it.
MAX_RESTORE_BYTES = 8 * 1024 * 1024
_FILE_MODES = {"100644", "100755"}


@dataclass(frozen=True, slots=True)
class CleanedSnapshot:
    """A snapshot without status edits. `changed` are the files that differ from those in the folder."""

    tree: str
    changed: tuple[str, ...] = ()
    reverted_sources: tuple[str, ...] = ()


def revert_status_edits(snapshot: Snapshot, base: str, find_restorer: FindStatusRestorer) -> CleanedSnapshot:
    """Restore the base's statuses in the sources that changed. The index is updated."""
    git = snapshot.git
    changed: list[str] = []
    reverted_sources: list[str] = []
    rows: list[str] = []
    fields = git.run("diff-tree", "-r", "-z", "--no-renames", "--diff-filter=M", base, snapshot.tree).fields
    for header, path in zip(fields[::2], fields[1::2], strict=True):
        base_mode, mode, *blobs, _ = header.removeprefix(":").split()
        restore = find_restorer(path) if {base_mode, mode} <= _FILE_MODES and len({*blobs}) > 1 else None
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
