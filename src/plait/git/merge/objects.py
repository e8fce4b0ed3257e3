"""Trees with some files changed, made without an index: only the folders on the way are written anew.

The contents of many files, each only as far as somebody would read it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

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
    return _update_tree(git, tree, {_split_path(path): new for path, new in changes.items()}) or git.text("mktree")


def _update_tree(git: Git, tree: str | None, changes: Mapping[tuple[str, ...], TreeEntry | None]) -> str | None:
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


MAX_BLOB_BYTES = 256 << 10  # bytes of a file


MAX_TOTAL_BYTES = 8 << 20  # … of all of them


@dataclass(frozen=True, slots=True)
class BlobContent:
    data: bytes

    @property
    def is_binary(self) -> bool:
        return b"\0" in self.data

    @property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")


def list_blobs(git: Git, tree: str, paths: Sequence[str]) -> dict[str, str]:
    """The objects of those that are files in this tree, or links. A path is a name, whatever git could read into it."""
    if not paths:
        return {}
    literal = git.with_options(variables={"GIT_LITERAL_PATHSPECS": "1"})
    told = literal.run("ls-tree", "-z", "-r", "--full-tree", tree, "--", *paths).fields
    entries = (line.partition("\t") for line in told)
    wanted = set(paths)
    return {path: facts.split(" ")[2] for facts, _, path in entries if path in wanted and " blob " in facts}


def read_blobs(git: Git, objects: Sequence[str]) -> dict[str, BlobContent | None]:
    """None: it is too long, or the ones before it were. What is no file here is left out."""
    names = list(dict.fromkeys(objects))
    sizes = dict(_read_sizes(git, names))
    room, chosen = MAX_TOTAL_BYTES, []
    for name in names:
        if sizes.get(name, room + 1) <= min(MAX_BLOB_BYTES, room):
            chosen.append(name)
            room -= sizes[name]
    found = dict(_read_contents(git, chosen))
    return {name: found.get(name) for name in names if name in sizes}


def _read_sizes(git: Git, names: Sequence[str]) -> Iterator[tuple[str, int]]:
    for line in _cat_file(git, "--batch-check", names).decode("ascii", "replace").splitlines():
        words = line.split(" ")
        if len(words) == 3 and words[1] == "blob":
            yield words[0], int(words[2])


def _read_contents(git: Git, names: Sequence[str]) -> Iterator[tuple[str, BlobContent]]:
    told, at = _cat_file(git, "--batch", names), 0
    for name in names:
        end = told.index(b"\n", at)
        size = int(told[at:end].rpartition(b" ")[2])
        yield name, BlobContent(told[end + 1 : end + 1 + size])
        at = end + size + 2


def _cat_file(git: Git, how: str, names: Sequence[str]) -> bytes:
    return git.run("cat-file", how, stdin="".join(f"{name}\n" for name in names).encode()).out if names else b""
