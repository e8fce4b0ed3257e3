"""Indexes are read as git reads them, or left to git."""

from __future__ import annotations

import hashlib
import struct
import subprocess
from pathlib import Path

import pytest

from plait.git.worktrees.index_file import parse_index

EMPTY_BLOB = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"


def git(folder: Path, *words: str, stdin: str = "") -> str:
    done = subprocess.run(["git", *words], cwd=folder, input=stdin.encode(), check=True, capture_output=True)
    return done.stdout.decode("utf-8", "surrogateescape")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with an index of all that an entry can be: conflicts, links, submodules, names of many lengths."""
    git(tmp_path, "init", "-q")
    names = ["é\n.txt", *("a" * n for n in range(1, 18)), "long/" + "/".join(["b" * 200] * 22)]
    rows = [f"100755 {EMPTY_BLOB} 0\t{name}\0" for name in names]
    rows += [f"120000 {EMPTY_BLOB} 0\tlink\0", f"160000 {EMPTY_BLOB} 0\tsub\0"]
    rows += [f"100644 {EMPTY_BLOB} {stage}\tconflict\0" for stage in (1, 2, 3)]
    git(tmp_path, "update-index", "-z", "--index-info", stdin="".join(rows))
    (tmp_path / "intended").touch()
    git(tmp_path, "add", "--intent-to-add", "intended")
    return tmp_path


def test_entries_are_those_that_git_lists(folder: Path) -> None:
    data = (folder / ".git" / "index").read_bytes()
    entries = parse_index(data)
    assert data[7] == 3  # because of the intended one
    assert entries is not None
    listed = [f"{' '.join(row)}\t{path}" for path, rows in entries.items() for row in rows]
    assert listed == git(folder, "ls-files", "--stage", "-z").split("\0")[:-1]


def test_other_kinds_of_index_are_left_to_git(folder: Path) -> None:
    index = folder / ".git" / "index"
    data = index.read_bytes()
    assert parse_index(data[:-1]) is None
    assert parse_index(data.replace(b"link", b"lank")) is None
    assert parse_index(b"") is None
    for options in (("--index-version", "4"), ("--split-index",)):
        git(folder, "update-index", *options)
        assert parse_index(index.read_bytes()) is None, options
        index.write_bytes(data)


def test_an_index_with_an_entry_twice_is_left_to_git() -> None:
    """Git refuses it. An agent could make one that takes hours to read."""
    entry = struct.pack(">24xI12x20sH", 0o100644, b"1" * 20, 1) + b"a\0"
    data = b"DIRC" + struct.pack(">II", 2, 2) + 2 * entry
    assert parse_index(data + hashlib.sha1(data, usedforsecurity=False).digest()) is None
