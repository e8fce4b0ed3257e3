"""Find what SQLite would drop silently: it replays a write-ahead log (WAL) only up to the first invalid frame.

A crash may leave a transaction half written at the end; that one was never acknowledged, and dropping it is normal
recovery. But with synchronous=FULL a transaction is on disk before the next one begins. If the invalid frames belong
to two transactions or more, all but the last had been acknowledged: that is damage, not a crash.

Exact because of how the journal is written: a writer begins with an empty WAL, keeps unfinished transactions in
memory, and changes the table meta in every transaction. The format: https://sqlite.org/fileformat2.html
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import BinaryIO, NamedTuple

from plait.core.fast_dataclass import dataclass
from plait.store.schema import PAGE_SIZE

HEADER_SIZE = 32
FRAME_HEADER_SIZE = 24
FRAME_SIZE = FRAME_HEADER_SIZE + PAGE_SIZE

_MAGIC = 0x377F0682  # its last bit says in which byte order the checksums are made
_FORMAT = 3007000
_HEADER = struct.Struct(">8I")
_FRAME = struct.Struct(">6I")
_UINT32_MASK = 0xFFFFFFFF

Sums = tuple[int, int]


@dataclass(frozen=True, slots=True)
class WalScan:
    """What SQLite's recovery does: `kept` is how many frames it keeps, `lost` how many transactions it drops, at least."""

    kept: int
    lost: int
    has_valid_header: bool

    @property
    def is_damaged(self) -> bool:
        # The header fits in a sector and is on disk before the first frame is written: no crash leaves half of it.
        return self.lost >= (2 if self.has_valid_header else 1)


class _Header(NamedTuple):
    byte_order: str
    salts: Sums
    sums: Sums


class _Frame(NamedTuple):
    number: int
    page: int
    commit: int
    salts: Sums
    sums: Sums
    summed: bytes


def scan_wal(path: Path) -> WalScan:
    try:
        with path.open("rb") as file:
            return scan_wal_file(file)
    except FileNotFoundError:
        return WalScan(kept=0, lost=0, has_valid_header=True)


def scan_wal_file(file: BinaryIO) -> WalScan:
    header = _parse_header(file.read(HEADER_SIZE))
    frames = _read_frames(file)
    if header is None:
        return WalScan(0, lost=sum(1 for frame in frames if frame.page and frame.commit), has_valid_header=False)
    kept, remaining = _recover(header, frames)
    return WalScan(kept, lost=_count_lost_transactions(kept, remaining), has_valid_header=True)


def _recover(header: _Header, frames: Iterator[_Frame]) -> tuple[int, list[_Frame]]:
    """Read as SQLite does, up to the last commit before the first invalid frame. Return the number of frames up to
    there, and the frames after the invalid one.
    """
    kept, sums = 0, header.sums
    for frame in frames:
        # What an older WAL left behind has other salts.
        right = frame.page and frame.salts == header.salts and len(frame.summed) == PAGE_SIZE + 8
        sums = compute_checksum(frame.summed, sums, header.byte_order) if right else sums
        if not right or sums != frame.sums:
            # Without their content: there may be many.
            return kept, [
                later._replace(summed=b"") for later in chain((frame,), frames) if later.salts == header.salts
            ]
        if frame.commit:
            kept = frame.number
    return kept, []


def _count_lost_transactions(kept: int, remaining: Sequence[_Frame]) -> int:
    """Return the least possible number of lost transactions. A transaction ends with a commit frame; if that is
    damaged, the order of pages shows it.

    SQLite sorts the pages of a transaction, so page p is among its first p frames, and page 2, the table meta, is in
    every transaction.
    """
    commits = sum(1 for frame in remaining if frame.commit)
    too_late = any(frame.number - kept > frame.page for frame in remaining)
    return max(commits, 2 if too_late else 0)


def _parse_header(data: bytes) -> _Header | None:
    if len(data) < HEADER_SIZE:
        return None
    magic, version, page, _, salt_1, salt_2, sum_1, sum_2 = _HEADER.unpack(data)
    if magic & ~1 != _MAGIC or version != _FORMAT or page != PAGE_SIZE:
        return None
    byte_order = ">" if magic & 1 else "<"
    sums = compute_checksum(data[: HEADER_SIZE - 8], (0, 0), byte_order)
    return _Header(byte_order, (salt_1, salt_2), sums) if sums == (sum_1, sum_2) else None


def _read_frames(file: BinaryIO) -> Iterator[_Frame]:
    """Yield the frames. The last one may be cut; one that is cut within its own header is empty."""
    number = 0
    while len(data := file.read(FRAME_SIZE)) >= FRAME_HEADER_SIZE:
        number += 1
        page, commit, salt_1, salt_2, sum_1, sum_2 = _FRAME.unpack_from(data)
        summed = data[:8] + data[FRAME_HEADER_SIZE:]
        yield _Frame(number, page, commit, (salt_1, salt_2), (sum_1, sum_2), summed)


def compute_checksum(data: bytes, start: Sums, byte_order: str) -> Sums:
    numbers = iter(struct.unpack(f"{byte_order}{len(data) // 4}I", data))
    first, second = start
    for even, odd in zip(numbers, numbers, strict=True):
        first = (first + even + second) & _UINT32_MASK
        second = (second + odd + first) & _UINT32_MASK
    return first, second
