"""Edits that are plait's to make, taken out of an agent's change: statuses in the sources."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plait.core.frozen import dataclass
from plait.ports import Restore
from plait.site.capture.snapshot import Snapshot
from plait.site.capture.worktree import Worktree
from plait.site.git import Git

# No source is larger, and whoever restores one reads all of it.
LARGEST = 8 * 1024 * 1024
_LOT = 100
_FILES = {"100644", "100755"}


@dataclass(frozen=True, slots=True)
class Cleared:
    """A snapshot without such edits. `changed` are the files in which it differs from those in the folder."""

    tree: str
    changed: tuple[str, ...] = ()
    taken_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Pair:
    """A file in both versions: its mode and blob now, and the blob it was. `same`: so was its mode."""

    path: str
    same: bool
    mode: str
    old: str
    new: str


def cleared(worktree: Worktree, snapshot: Snapshot, base: str, restore: Restore) -> Cleared:
    """Every changed file is shown to `restore`; what it gives back is what is committed. The index follows."""
    git = snapshot.git
    changed: list[str] = []
    taken_out: list[str] = []
    rows: list[str] = []
    for pair, old, new in _versions(worktree.git, _pairs(git, base, snapshot.tree)):
        wanted = restore(pair.path, old, new)
        if wanted == new:
            continue
        changed.append(pair.path)
        if wanted == old and pair.same:
            taken_out.append(pair.path)
        blob = git.text("hash-object", "-w", "-t", "blob", "--stdin", feed=wanted)
        rows.append(f"{pair.mode} {blob}\t{pair.path}\0")
    if not rows:
        return Cleared(snapshot.tree)
    git.run("update-index", "-z", "--index-info", feed="".join(rows).encode("utf-8", "surrogateescape"))
    return Cleared(git.text("write-tree"), tuple(changed), tuple(taken_out))


def write_out(snapshot: Snapshot, paths: tuple[str, ...]) -> None:
    """These files as the index has them, into the folder."""
    told = "".join(f"{path}\0" for path in paths)
    if told:
        words = ("checkout-index", "--force", "--index", "-z", "--stdin")
        snapshot.git.run(*words, feed=told.encode("utf-8", "surrogateescape"))


def _pairs(git: Git, base: str, tree: str) -> Iterator[_Pair]:
    words = git.run("diff-tree", "-r", "-z", "--no-renames", "--diff-filter=M", base, tree).words
    for about, path in zip(words[::2], words[1::2], strict=True):
        before, mode, old, new, _ = about.removeprefix(":").split()
        if {before, mode} <= _FILES and old != new:
            yield _Pair(path, before == mode, mode, old, new)


def _versions(git: Git, pairs: Iterator[_Pair]) -> Iterator[tuple[_Pair, bytes, bytes]]:
    """What is large is left alone, and so not read; of the rest, so much at once that memory is no matter."""
    known = list(pairs)
    sizes = _sizes(git, known)
    lot: list[_Pair] = []
    for pair in known:
        if max(sizes[pair.old], sizes[pair.new]) <= LARGEST:
            lot.append(pair)
        if sum(sizes[each.old] + sizes[each.new] for each in lot) > LARGEST or len(lot) == _LOT:
            yield from _read(git, lot)
            lot = []
    yield from _read(git, lot)


def _sizes(git: Git, pairs: Sequence[_Pair]) -> dict[str, int]:
    asked = _blobs(pairs)
    check = ("cat-file", "--batch-check=%(objectname) %(objectsize)")
    rows = git.text(*check, feed=asked).splitlines() if asked else []
    return {name: int(size) for name, size in (row.split() for row in rows)}


def _read(git: Git, pairs: Sequence[_Pair]) -> Iterator[tuple[_Pair, bytes, bytes]]:
    out = git.run("cat-file", "--batch=%(objectsize)", feed=_blobs(pairs)).out if pairs else b""
    at = 0
    found: list[bytes] = []
    while at < len(out):
        size, _, _ = out[at : at + 24].partition(b"\n")
        at += len(size) + 1
        found.append(out[at : at + int(size)])
        at += int(size) + 1
    return zip(pairs, found[::2], found[1::2], strict=True)


def _blobs(pairs: Sequence[_Pair]) -> bytes:
    return "".join(f"{pair.old}\n{pair.new}\n" for pair in pairs).encode()
