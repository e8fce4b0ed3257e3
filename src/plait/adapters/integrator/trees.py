"""Trees with some files changed, made without an index: only the folders on the way are written anew."""

from __future__ import annotations

from collections.abc import Mapping

from plait.core.errors import WorldError
from plait.core.frozen import dataclass
from plait.site.git import Git

_FOLDER = "040000"
_PLAIN = "100644"


@dataclass(frozen=True, slots=True)
class Entry:
    mode: str
    kind: str
    object: str


def entry(git: Git, tree: str, path: str) -> Entry | None:
    names = _names(path)
    for name in names[:-1]:
        found = _listing(git, tree).get(name)
        if found is None or found.mode != _FOLDER:
            return None
        tree = found.object
    return _listing(git, tree).get(names[-1])


def read(git: Git, tree: str, path: str) -> bytes | None:
    """A file's content; None where there is no file, or something else of that name."""
    found = entry(git, tree, path)
    if found is None or not found.mode.startswith("100"):
        return None
    return git.run("cat-file", "blob", found.object).out


def write(git: Git, tree: str, files: Mapping[str, bytes]) -> str:
    """The tree with these files; those that were there keep their mode."""
    changes: dict[str, Entry | None] = {}
    for path, content in files.items():
        was = entry(git, tree, path)
        if was is not None and not was.mode.startswith("100"):
            raise WorldError(f"{path} is no plain file in the merged tree and is not written")
        blob = git.text("hash-object", "-w", "-t", "blob", "--stdin", feed=content)
        changes[path] = Entry(was.mode if was else _PLAIN, "blob", blob)
    return put(git, tree, changes)


def put(git: Git, tree: str, changes: Mapping[str, Entry | None]) -> str:
    """The tree with these entries; None takes one out."""
    if not changes:
        return tree
    return _put(git, tree, {_names(path): new for path, new in changes.items()}) or git.text("mktree")


def _put(git: Git, tree: str | None, changes: Mapping[tuple[str, ...], Entry | None]) -> str | None:
    """None: nothing is left of it."""
    listing = _listing(git, tree) if tree else {}
    below: dict[str, dict[tuple[str, ...], Entry | None]] = {}
    for names, new in changes.items():
        if len(names) > 1:
            below.setdefault(names[0], {})[names[1:]] = new
        elif new is None:
            listing.pop(names[0], None)
        else:
            listing[names[0]] = new
    for name, more in below.items():
        was = listing.pop(name, None)
        folder = _put(git, was.object if was is not None and was.mode == _FOLDER else None, more)
        if folder is not None:
            listing[name] = Entry(_FOLDER, "tree", folder)
        elif was is not None and was.mode != _FOLDER:
            listing[name] = was
    return _written(git, listing) if listing else None


def _written(git: Git, listing: Mapping[str, Entry]) -> str:
    feed = "".join(f"{new.mode} {new.kind} {new.object}\t{name}\0" for name, new in listing.items())
    # --missing: a submodule's commit is not here.
    return git.text("mktree", "-z", "--missing", feed=feed.encode("utf-8", "surrogateescape"))


def _listing(git: Git, tree: str) -> dict[str, Entry]:
    told = (line.partition("\t") for line in git.run("ls-tree", "-z", tree).words)
    return {name: Entry(*facts.split(" ")) for facts, _, name in told}


def _names(path: str) -> tuple[str, ...]:
    names = tuple(path.split("/"))
    if any(name in {"", ".", ".."} or name.lower() == ".git" or "\0" in name for name in names):
        raise WorldError(f"{path!r} is no path in a repository")
    return names
