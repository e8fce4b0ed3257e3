"""Reads git objects in batches, and writes trees with some files changed, without an index."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.git.command import Git, join_fields

# Modes of entries in trees and in an index.
FOLDER_MODE, FILE_MODE, GITLINK_MODE = "040000", "100644", "160000"
FILE_MODES = frozenset({FILE_MODE, "100755"})


@dataclass(frozen=True, slots=True)
class GitObject:
    id: str
    kind: str
    data: bytes


@dataclass(frozen=True, slots=True)
class TreeEntry:
    mode: str
    kind: str
    object: str


def find_entry(git: Git, tree: str, path: str) -> TreeEntry | None:
    names = _split_path(path)
    for name in names[:-1]:
        entry = _list_tree(git, tree).get(name)
        if entry is None or entry.mode != FOLDER_MODE:
            return None
        tree = entry.object
    return _list_tree(git, tree).get(names[-1])


def read_file(git: Git, tree: str, path: str) -> bytes | None:
    """Read a file's content; None if there is no file at this path, or something other than a file."""
    entry = find_entry(git, tree, path)
    if entry is None or not entry.mode.startswith("100"):
        return None
    return git.run("cat-file", "blob", entry.object).out


def write_files(git: Git, tree: str, files: Mapping[str, bytes]) -> str:
    """Write a tree with these files added or replaced; existing files keep their mode."""
    changes: dict[str, TreeEntry | None] = {}
    for path, content in files.items():
        existing = find_entry(git, tree, path)
        if existing is not None and not existing.mode.startswith("100"):
            raise WorldError(f"{path} is not a regular file in the merged tree, so it is not written")
        changes[path] = TreeEntry(existing.mode if existing else FILE_MODE, "blob", write_blob(git, content))
    return update_entries(git, tree, changes)


def write_blob(git: Git, content: bytes) -> str:
    return git.text("hash-object", "-w", "-t", "blob", "--stdin", stdin=content)


def kind_of_mode(mode: str) -> str:
    """Return the kind of object that a tree's entry with this mode names: a submodule's is a commit."""
    return {FOLDER_MODE: "tree", GITLINK_MODE: "commit"}.get(mode, "blob")


def update_entries(git: Git, tree: str, changes: Mapping[str, TreeEntry | None]) -> str:
    """Write a tree with these entries changed; None removes an entry."""
    if not changes:
        return tree
    return _update_tree(git, tree, {_split_path(path): new for path, new in changes.items()}) or git.text("mktree")


def _update_tree(git: Git, tree: str | None, changes: Mapping[tuple[str, ...], TreeEntry | None]) -> str | None:
    """Write a tree or subtree with these changes; None if nothing is left in it."""
    listing = _list_tree(git, tree) if tree else {}
    subtrees: dict[str, dict[tuple[str, ...], TreeEntry | None]] = {}
    for names, new in changes.items():
        if len(names) > 1:
            subtrees.setdefault(names[0], {})[names[1:]] = new
        elif new is None:
            listing.pop(names[0], None)
        else:
            listing[names[0]] = new
    for name, subtree_changes in subtrees.items():
        existing = listing.pop(name, None)
        folder = _update_tree(
            git, existing.object if existing is not None and existing.mode == FOLDER_MODE else None, subtree_changes
        )
        if folder is not None:
            listing[name] = TreeEntry(FOLDER_MODE, "tree", folder)
        elif existing is not None and existing.mode != FOLDER_MODE:
            listing[name] = existing
    return _write_tree(git, listing) if listing else None


def _write_tree(git: Git, listing: Mapping[str, TreeEntry]) -> str:
    rows = join_fields(f"{new.mode} {new.kind} {new.object}\t{name}" for name, new in listing.items())
    return git.text("mktree", "-z", "--missing", stdin=rows)  # --missing: a submodule's commit is not here


def _list_tree(git: Git, tree: str) -> dict[str, TreeEntry]:
    rows = (line.partition("\t") for line in git.run("ls-tree", "-z", tree).fields)
    return {name: TreeEntry(*facts.split(" ")) for facts, _, name in rows}


def _split_path(path: str) -> tuple[str, ...]:
    if not is_safe_path(path):
        raise WorldError(f"{path!r} is not a path in a repository")
    return tuple(path.split("/"))


_MAX_PATH_BYTES = 4000  # no system opens a longer one
# Apple's file systems ignore these characters in names.
_INVISIBLE = re.compile(r"[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")


def is_safe_path(path: str) -> bool:
    """Whether a path stays in the worktree and out of its git folder on any file system. Trees may hold any name."""
    if "\0" in path or len(path.encode("utf-8", "surrogateescape")) > _MAX_PATH_BYTES:
        return False
    return not any(name in {"", ".", ".."} or _is_git_name(name) for name in path.split("/"))


def _is_git_name(name: str) -> bool:
    """Whether Apple or Windows might read the name as `.git`, or as folders with that name, split at backslashes."""
    plain = _INVISIBLE.sub("", name).lower()
    return any(part.partition(":")[0].rstrip(". ") in {".git", "git~1"} for part in (plain, *plain.split("\\")))


MAX_BLOB_BYTES = 256 << 10
MAX_TOTAL_BYTES = 8 << 20


def list_blobs(git: Git, tree: str, paths: Sequence[str]) -> dict[str, str]:
    """Return the blobs of those paths that are files or symlinks in this tree. Paths are literal, not patterns."""
    if not paths:
        return {}
    literal = git.with_options(variables={"GIT_LITERAL_PATHSPECS": "1"})
    rows = literal.run("ls-tree", "-z", "-r", "--full-tree", tree, "--", *paths).fields
    entries = (line.partition("\t") for line in rows)
    wanted = set(paths)
    return {path: facts.split(" ")[2] for facts, _, path in entries if path in wanted and " blob " in facts}


def read_blobs(git: Git, objects: Sequence[str]) -> dict[str, bytes | None]:
    """Read blobs by name. None for one that exceeds the limits, by itself or with those before it; names of other
    objects are left out.
    """
    names = list(dict.fromkeys(objects))
    sizes = read_blob_sizes(git, names)
    budget, chosen = MAX_TOTAL_BYTES, []
    for name in names:
        if sizes.get(name, budget + 1) <= min(MAX_BLOB_BYTES, budget):
            chosen.append(name)
            budget -= sizes[name]
    contents = {blob.id: blob.data for blob in read_objects(git, chosen) if blob is not None}
    return {name: contents.get(name) for name in names if name in sizes}


def read_objects(git: Git, names: Sequence[str]) -> Iterator[GitObject | None]:
    """Yield each named object, in order, from one call; None for a name that git does not know."""
    output, offset = _cat_file(git, "--batch", names), 0
    for _ in names:
        end = output.index(b"\n", offset)
        header = output[offset:end].decode("utf-8", "replace").split(" ")
        offset = end + 1
        if len(header) == 3 and header[2].isdigit():
            size = int(header[2])
            yield GitObject(header[0], header[1], output[offset : offset + size])
            offset += size + 1
        else:
            yield None


def read_blob_sizes(git: Git, names: Sequence[str]) -> dict[str, int]:
    """Return the sizes of those objects that are blobs."""
    rows = (line.split(" ") for line in _cat_file(git, "--batch-check", names).decode("ascii", "replace").splitlines())
    return {row[0]: int(row[2]) for row in rows if len(row) == 3 and row[1] == "blob"}


def _cat_file(git: Git, mode: str, names: Sequence[str]) -> bytes:
    return git.run("cat-file", mode, stdin="".join(f"{name}\n" for name in names).encode()).out if names else b""
