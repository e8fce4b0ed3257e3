"""Edits that are plait's to make, taken out of an agent's change: statuses in the sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plait.core.fast_dataclass import dataclass
from plait.git.command import Git
from plait.git.worktrees.agent_worktree import AgentWorktree
from plait.git.worktrees.tree_snapshot import Snapshot
from plait.store.interfaces import RestoreStatuses

# No source is larger, and whoever restores one reads all of it.
MAX_RESTORE_BYTES = 8 * 1024 * 1024
_LOT_SIZE = 100
_FILE_MODES = {"100644", "100755"}


@dataclass(frozen=True, slots=True)
class CleanedSnapshot:
    """A snapshot without such edits. `changed` are the files in which it differs from those in the folder."""

    tree: str
    changed: tuple[str, ...] = ()
    reverted_sources: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _ChangedFile:
    """A file in both versions: its mode and blob now, and the blob it was. `same`: so was its mode."""

    path: str
    same_mode: bool
    mode: str
    old: str
    new: str


def revert_status_edits(
    worktree: AgentWorktree, snapshot: Snapshot, base: str, restore: RestoreStatuses
) -> CleanedSnapshot:
    """Every changed file is shown to `restore`; what it gives back is what is committed. The index follows."""
    git = snapshot.git
    changed: list[str] = []
    taken_out: list[str] = []
    rows: list[str] = []
    for pair, old, new in _read_versions(worktree.git, _list_changed_files(git, base, snapshot.tree)):
        wanted = restore(pair.path, old, new)
        if wanted == new:
            continue
        changed.append(pair.path)
        if wanted == old and pair.same_mode:
            taken_out.append(pair.path)
        blob = git.text("hash-object", "-w", "-t", "blob", "--stdin", stdin=wanted)
        rows.append(f"{pair.mode} {blob}\t{pair.path}\0")
    if not rows:
        return CleanedSnapshot(snapshot.tree)
    git.run("update-index", "-z", "--index-info", stdin="".join(rows).encode("utf-8", "surrogateescape"))
    return CleanedSnapshot(git.text("write-tree"), tuple(changed), tuple(taken_out))


def write_to_worktree(snapshot: Snapshot, paths: tuple[str, ...]) -> None:
    """These files as the index has them, into the folder."""
    told = "".join(f"{path}\0" for path in paths)
    if told:
        words = ("checkout-index", "--force", "--index", "-z", "--stdin")
        snapshot.git.run(*words, stdin=told.encode("utf-8", "surrogateescape"))


def _list_changed_files(git: Git, base: str, tree: str) -> Iterator[_ChangedFile]:
    words = git.run("diff-tree", "-r", "-z", "--no-renames", "--diff-filter=M", base, tree).fields
    for about, path in zip(words[::2], words[1::2], strict=True):
        before, mode, old, new, _ = about.removeprefix(":").split()
        if {before, mode} <= _FILE_MODES and old != new:
            yield _ChangedFile(path, before == mode, mode, old, new)


def _read_versions(git: Git, pairs: Iterator[_ChangedFile]) -> Iterator[tuple[_ChangedFile, bytes, bytes]]:
    """What is large is left alone, and so not read; of the rest, so much at once that memory is no matter."""
    known = list(pairs)
    sizes = _read_sizes(git, known)
    lot: list[_ChangedFile] = []
    for pair in known:
        if max(sizes[pair.old], sizes[pair.new]) <= MAX_RESTORE_BYTES:
            lot.append(pair)
        if (
            sum(sizes[each.old] + sizes[each.new] for each in lot) > MAX_RESTORE_BYTES
            or len(lot) == _LOT_SIZE
        ):
            yield from _read_contents(git, lot)
            lot = []
    yield from _read_contents(git, lot)


def _read_sizes(git: Git, pairs: Sequence[_ChangedFile]) -> dict[str, int]:
    asked = _list_blobs(pairs)
    check = ("cat-file", "--batch-check=%(objectname) %(objectsize)")
    rows = git.text(*check, stdin=asked).splitlines() if asked else []
    return {name: int(size) for name, size in (row.split() for row in rows)}


def _read_contents(git: Git, pairs: Sequence[_ChangedFile]) -> Iterator[tuple[_ChangedFile, bytes, bytes]]:
    out = git.run("cat-file", "--batch=%(objectsize)", stdin=_list_blobs(pairs)).out if pairs else b""
    at = 0
    found: list[bytes] = []
    while at < len(out):
        size, _, _ = out[at : at + 24].partition(b"\n")
        at += len(size) + 1
        found.append(out[at : at + int(size)])
        at += int(size) + 1
    return zip(pairs, found[::2], found[1::2], strict=True)


def _list_blobs(pairs: Sequence[_ChangedFile]) -> bytes:
    return "".join(f"{pair.old}\n{pair.new}\n" for pair in pairs).encode()
