"""Each record's check covers its content and the check before it: one that is changed, lost or moved breaks the chain.

This finds damage, not tampering: anyone who can write the file can also write new checks.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from hashlib import blake2b

from plait.core.fast_dataclass import dataclass

DIGEST_BYTES = 16

# seq, at, version, kind, event
RecordContent = tuple[int, float, int, bytes, bytes]
# The same and the check, as they come out of the file. Damage can change a value's type.
RecordRow = tuple[int, float, int, bytes, bytes, bytes]

# The lengths of what varies go in front of it, so that no two different records give the same bytes.
_FRAME = struct.Struct(">qdqQ")
_HEAD = struct.Struct(">qq")


def compute_genesis(journal: str) -> bytes:
    """Return the check before the first record, which ensures that no record of one journal fits into another."""
    return _digest(b"plait genesis", journal.encode())


def compute_link(before: bytes, content: RecordContent) -> bytes:
    """Return the check of a record that comes after one with the check `before`."""
    seq, at, version, kind, event = content
    # SQLite stores no negative zero; adding zero makes both the same.
    framed = before + _FRAME.pack(seq, at + 0.0, version, len(kind)) + kind + event
    return blake2b(framed, digest_size=DIGEST_BYTES).digest()


def is_next_link(row: RecordRow, before: bytes, seq: int) -> bool:
    """Whether this row is the record that was written at this position."""
    try:
        return row[0] == seq and compute_link(before, row[:5]) == row[5]
    except (struct.error, TypeError):
        return False


def digest_settings(settings: Mapping[str, str]) -> bytes:
    parts = [part.encode() for name in sorted(settings) for part in (name, settings[name])]
    return _digest(b"plait settings", *parts)


def digest_request(id_: str, version: int, kind: str, body: bytes) -> bytes:
    return _digest(b"plait request", id_.encode(), str(version).encode(), kind.encode(), body)


@dataclass(frozen=True, slots=True)
class JournalHead:
    """The journal's id and where its list of records ends."""

    id: str
    schema: int
    last: int
    tip: bytes
    settings: bytes

    @property
    def seal(self) -> bytes:
        numbers = _HEAD.pack(self.schema, self.last)
        return _digest(b"plait head", self.id.encode(), numbers, self.tip, self.settings)


def _digest(*parts: bytes) -> bytes:
    digest = blake2b(digest_size=DIGEST_BYTES)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.digest()
