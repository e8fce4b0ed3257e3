"""Trees with some files changed, made without an index: only the folders on the way are written anew."""

from __future__ import annotations

from collections.abc import Mapping

from plait.core.errors import WorldError
from plait.core.fast_dataclass import dataclass
from plait.git.command import Git

_FOLDER_MODE = "040000"
_FILE_MODE = "100644"


@dataclass(frozen=True, slots=True)
class TreeEntry:
    mode: str
    kind: str
    object: str


def find_entry(git: Git, tree: str, path: str) -> TreeEntry | None:
    names = _split_path(path)
    for name in names[:-1]:
        found = _list_tree(git, tree).get(name)
        if found is None or found.mode != _FOLDER_MODE:
            return None
        tree = found.object
    return _list_tree(git, tree).get(names[-1])


def read_file(git: Git, tree: str, path: str) -> bytes | None:
    """A file's content; None where there is no file, or something else of that name."""
    found = find_entry(git, tree, path)
    if found is None or not found.mode.startswith("100"):
        return None
    return git.run("cat-file", "blob", found.object).out


def write_files(git: Git, tree: str, files: Mapping[str, bytes]) -> str:
    """The tree with these files; those that were there keep their mode."""
    changes: dict[str, TreeEntry | None] = {}
    for path, content in files.items():
        was = find_entry(git, tree, path)
        if was is not None and not was.mode.startswith("100"):
            raise WorldError(f"{path} is no plain file in the merged tree and is not written")
        blob = git.text("hash-object", "-w", "-t", "blob", "--stdin", stdin=content)
        changes[path] = TreeEntry(was.mode if was else _FILE_MODE, "blob", blob)
    return update_entries(git, tree, changes)


def update_entries(git: Git, tree: str, changes: Mapping[str, TreeEntry | None]) -> str:
    """The tree with these entries; None takes one out."""
    if not changes:
        return tree
    return _update_tree(git, tree, {_split_path(path): new for path, new in changes.items()}) or git.text(
        "mktree"
    )


def _update_tree(
    git: Git, tree: str | None, changes: Mapping[tuple[str, ...], TreeEntry | None]
) -> str | None:
    """None: nothing is left of it."""
    listing = _list_tree(git, tree) if tree else {}
    below: dict[str, dict[tuple[str, ...], TreeEntry | None]] = {}
    for names, new in changes.items():
        if len(names) > 1:
            below.setdefault(names[0], {})[names[1:]] = new
        elif new is None:
            listing.pop(names[0], None)
        else:
            listing[names[0]] = new
    for name, more in below.items():
        was = listing.pop(name, None)
        folder = _update_tree(git, was.object if was is not None and was.mode == _FOLDER_MODE else None, more)
        if folder is not None:
            listing[name] = TreeEntry(_FOLDER_MODE, "tree", folder)
        elif was is not None and was.mode != _FOLDER_MODE:
            listing[name] = was
    return _write_tree(git, listing) if listing else None


def _write_tree(git: Git, listing: Mapping[str, TreeEntry]) -> str:
    feed = "".join(f"{new.mode} {new.kind} {new.object}\t{name}\0" for name, new in listing.items())
    # --missing: a submodule's commit is not here.
    return git.text("mktree", "-z", "--missing", stdin=feed.encode("utf-8", "surrogateescape"))


def _list_tree(git: Git, tree: str) -> dict[str, TreeEntry]:
    told = (line.partition("\t") for line in git.run("ls-tree", "-z", tree).fields)
    return {name: TreeEntry(*facts.split(" ")) for facts, _, name in told}


def _split_path(path: str) -> tuple[str, ...]:
    names = tuple(path.split("/"))
    if any(name in {"", ".", ".."} or name.lower() == ".git" or "\0" in name for name in names):
        raise WorldError(f"{path!r} is no path in a repository")
    return names
