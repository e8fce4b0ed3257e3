"""Reads the entries of an index, without git where it can: gitformat-index(5), versions 2 and 3 with SHA-1, which is nearly all
of them.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Mapping
from struct import unpack_from

from plait.git.command import Git
from plait.git.objects import GITLINK_MODE

# In an index: that mode, and the names of the extensions of a shared and of a sparse one.
_SUBMODULE_MARKS = (int(GITLINK_MODE, 8).to_bytes(4, "big"), b"link", b"sdir")
_HASH_BYTES = 20
_HEADER_BYTES, _FACTS_BYTES, _EXTENSION_BYTES = 12, 62, 8
_VERSIONS = (2, 3)
_EXTENDED, _MODE_BITS = 0x4000, 16
_ROW = re.compile(r"(?P<mode>[0-7]{6}) (?P<blob>[0-9a-f]{40,64}) (?P<stage>[0-3])\t(?P<path>.+)\Z", re.DOTALL)

IndexEntry = tuple[str, str, str]  # mode, object, stage
IndexEntries = tuple[IndexEntry, ...]


def parse_index(data: bytes) -> Mapping[str, IndexEntries] | None:
    """Parse an index: its entries by path, in their order. None if git has to read it: another version, shared, sparse,
    or damaged.
    """
    if (
        not data.startswith(b"DIRC")
        or hashlib.sha1(data[:-_HASH_BYTES], usedforsecurity=False).digest() != data[-_HASH_BYTES:]
    ):
        return None
    try:
        return _parse_entries(data)
    except (struct.error, ValueError):
        return None


def _parse_entries(data: bytes) -> Mapping[str, IndexEntries] | None:
    version, count = unpack_from(">II", data, 4)
    if version not in _VERSIONS:
        return None
    found: dict[str, IndexEntries] = {}
    at = _HEADER_BYTES
    for _ in range(count):
        mode, blob, flags = unpack_from(">24xI12x20sH", data, at)
        start = at + _FACTS_BYTES + (2 if flags & _EXTENDED else 0)
        end = data.index(b"\0", start)
        path = data[start:end].decode("utf-8", "surrogateescape")
        if mode >> _MODE_BITS:
            return None
        row = (f"{mode:06o}", blob.hex(), str(flags >> 12 & 3))
        others = found.get(path, ())
        if any(row[2] == stage for _, _, stage in others):  # git refuses it, too; a long list of them would take hours
            return None
        found[path] = (*others, row)
        at += (end - at + 8) & ~7  # padded to eight bytes, with at least one
    return None if _has_required_extension(data, at) else found


def _has_required_extension(data: bytes, at: int) -> bool:
    """Whether the index has an extension that changes what the entries mean: the name of such an extension begins with
    a small letter.
    """
    while at < len(data) - _HASH_BYTES:
        if not data[at : at + 1].isupper():
            return True
        at += _EXTENSION_BYTES + int(unpack_from(">I", data, at + 4)[0])
    return False


def may_have_submodules(data: bytes) -> bool:
    """Whether the index may have submodules: some entry may have their mode. A shared index has entries in another
    file, a sparse one only their folders.
    """
    return any(mark in data for mark in _SUBMODULE_MARKS)


def list_index(git: Git) -> Mapping[str, IndexEntries] | None:
    """List the entries of git's index by path; None if git can't read it."""
    output = git.run("ls-files", "--stage", "-z", codes=(0, 1, 128))
    if output.code:
        return None
    found: dict[str, IndexEntries] = {}
    for match in filter(None, map(_ROW.match, output.fields)):
        found[match["path"]] = (*found.get(match["path"], ()), (match["mode"], match["blob"], match["stage"]))
    return found
