"""The contents of many files, each only as far as somebody would read it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plait.core.fast_dataclass import dataclass
from plait.git.command import Git

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
    return (
        git.run("cat-file", how, stdin="".join(f"{name}\n" for name in names).encode()).out if names else b""
    )
