"""Transcripts: what attempts print, as files whose offsets stay true.

One that grows past its cap loses its middle: a hole is punched into the file, which takes no room on the disk and moves
nothing. Readers step over it. Nobody ever holds more than a piece in memory.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.system.punch_hole import BLOCK_BYTES, punch_hole

MAX_DISK_BYTES = 64 << 20  # bytes on the disk

# Whatever lies there by now, nobody waits for it to be opened.
_READ_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK


@dataclass(frozen=True, slots=True)
class TranscriptChunk:
    """Bytes from `start`; the next piece is read from `next`. What lies before `start` was left out."""

    start: int
    data: bytes

    @property
    def end(self) -> int:
        return self.start + len(self.data)


def size(path: Path) -> int:
    """0 when there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def last_written(path: Path) -> float:
    """When something was last printed, in seconds since the epoch; 0 when there is none."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def read(path: Path, start: int, max_bytes: int) -> TranscriptChunk:
    """The bytes from `start` on, or from the end of the hole that `start` lies in; they end where the next hole begins.

    Empty at the end of the file, and where it can't be read; a file that has become shorter is read on from its end.
    """
    try:
        fd = os.open(path, _READ_FLAGS)
    except OSError:
        return TranscriptChunk(start, b"")
    try:
        return _read_chunk(fd, start, max_bytes)
    except OSError:
        return TranscriptChunk(start, b"")
    finally:
        os.close(fd)


def tail(path: Path, max_bytes: int) -> bytes:
    """The last bytes, at most so many; what lies before a hole is not among them."""
    end = size(path)
    found, at = b"", max(0, end - max_bytes)
    while at < end:
        piece = read(path, at, end - at)
        if not piece.data:
            break
        found = found + piece.data if piece.start == at else piece.data
        at = piece.end
    return found


def trim(path: Path, cap: int = MAX_DISK_BYTES) -> bool:
    """Keep a quarter of the cap from the beginning and half of it from the end, if more than the cap lies on the disk.

    False: there was nothing to do, or the file system can't; then the file is as it was.
    """
    try:
        stat = path.stat()
    except OSError:
        return False
    if stat.st_blocks * 512 <= cap:
        return False
    first = -(-(cap // 4) // BLOCK_BYTES) * BLOCK_BYTES
    last = (stat.st_size - cap // 2) // BLOCK_BYTES * BLOCK_BYTES
    return last > first and punch_hole(path, first, last - first)


def _read_chunk(fd: int, start: int, max_bytes: int) -> TranscriptChunk:
    end = os.fstat(fd).st_size
    if start >= end:
        return TranscriptChunk(end, b"")
    first = _seek(fd, start, os.SEEK_DATA, end)
    stop = _seek(fd, first, os.SEEK_HOLE, end)
    return TranscriptChunk(first, os.pread(fd, min(max_bytes, stop - first), first))


def _seek(fd: int, at: int, what: int, end: int) -> int:
    """Where a file system knows no holes, everything is data."""
    try:
        return min(end, os.lseek(fd, at, what))
    except OSError as error:
        return end if error.errno == errno.ENXIO or what == os.SEEK_HOLE else at
