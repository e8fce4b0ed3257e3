"""The committed `.gitattributes` of a commit: where they are, without looking at every file each time."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.git.command import Git

ATTRIBUTES_FILE = ".gitattributes"
_EMPTY_TREE = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}


@dataclass(frozen=True, slots=True)
class AttributesFile:
    path: str
    blob: str


AttributesFiles = tuple[AttributesFile, ...]


class AttributesReader:
    """Follows the commits it is asked for: what is the same since the last one costs nothing."""

    def __init__(self) -> None:
        self._last: tuple[str, AttributesFiles] | None = None

    def read(self, git: Git, commit: str) -> AttributesFiles:
        last = self._last  # read once: other threads ask too
        known, files = last or (_EMPTY_TREE[len(commit)], ())
        if known != commit:
            files = _apply_changes(git, known, commit, files)
            self._last = (commit, files)
        return files


def _apply_changes(git: Git, old: str, new: str, files: AttributesFiles) -> AttributesFiles:
    blobs = {file.path: file.blob for file in files}
    told = git.run(
        "diff-tree", "-r", "-z", "--raw", "--no-renames", old, new, "--", f":(glob)**/{ATTRIBUTES_FILE}"
    ).fields
    for facts, path in zip(told[::2], told[1::2], strict=True):
        _, mode, _, blob, _ = facts.split(" ")
        if mode.startswith("100") and _is_safe_path(path):  # git reads no attributes through a symlink
            blobs[path] = blob
        else:
            blobs.pop(path, None)
    return tuple(AttributesFile(path, blob) for path, blob in sorted(blobs.items()))


def _is_safe_path(path: str) -> bool:
    """A tree may hold any name; a folder on disk must not."""
    return all(name not in {"", ".", ".."} and name.lower() != ".git" for name in path.split("/"))


def write_attributes(git: Git, files: Iterable[AttributesFile], folder: Path) -> None:
    for file in files:
        path = folder / os.fsdecode(file.path.encode("utf-8", "surrogateescape"))
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as out:
            out.write(git.run("cat-file", "blob", file.blob).out)
            os.fsync(out.fileno())
