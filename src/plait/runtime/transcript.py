"""Transcripts of this machine's attempts: files whose offsets stay valid.

A transcript that grows past its limit loses its middle: a hole is punched into the file, which takes no space and moves
nothing. Readers skip it. At most one chunk is held in memory.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

from plait.runtime.executor import TranscriptChunk
from plait.system.disk import HOLE_BLOCK_BYTES, punch_hole

# Never wait for whatever may be there instead of a file.
_READ_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK


class FileTranscript:
    """A Transcript."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __str__(self) -> str:
        return str(self.path)

    def size(self) -> int:
        try:
            return self.path.stat().st_size
        except OSError:
            return 0

    def last_written(self) -> float:
        try:
            return self.path.stat().st_mtime
        except OSError:
            return 0.0

    def read(self, start: int, max_bytes: int) -> TranscriptChunk:
        """Empty also where it can't be read. A file that has become shorter is read on from its end."""
        try:
            fd = os.open(self.path, _READ_FLAGS)
        except OSError:
            return TranscriptChunk(start, b"")
        try:
            return _read_chunk(fd, start, max_bytes)
        except OSError:
            return TranscriptChunk(start, b"")
        finally:
            os.close(fd)

    def tail(self, max_bytes: int) -> bytes:
        end = self.size()
        data, at = b"", max(0, end - max_bytes)
        while at < end:
            chunk = self.read(at, end - at)
            if not chunk.data:
                break
            data = data + chunk.data if chunk.start == at else chunk.data
            at = chunk.end
        return data

    def trim(self, max_bytes: int) -> bool:
        """If more is on disk, keep a quarter of `max_bytes` from the beginning and half of it from the end.

        False: there was nothing to do, or the file system has no holes; then the file is unchanged.
        """
        try:
            stat = self.path.stat()
        except OSError:
            return False
        if stat.st_blocks * 512 <= max_bytes:
            return False
        first = -(-(max_bytes // 4) // HOLE_BLOCK_BYTES) * HOLE_BLOCK_BYTES
        last = (stat.st_size - max_bytes // 2) // HOLE_BLOCK_BYTES * HOLE_BLOCK_BYTES
        return last > first and punch_hole(self.path, first, last - first)


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
