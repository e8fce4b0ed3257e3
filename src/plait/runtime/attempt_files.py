"""Reads and writes what this machine's attempts leave: transcripts and result files.

The offsets of a transcript stay valid. One that grows past its limit loses its middle: a hole is punched into the file,
which takes no space and moves nothing. Readers skip it. At most one chunk is held in memory.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from plait.core.task import Attempt
from plait.runtime.executor import Transcript, TranscriptChunk
from plait.system.atomic_files import read_regular_file, write_private_file
from plait.system.disk import HOLE_BLOCK_BYTES, punch_hole
from plait.system.state_paths import StateFolder

# Never wait for whatever may be there instead of a file.
_READ_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK


class FileTranscript:
    """A transcript in a file. It is a Transcript."""

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
        """Read a chunk; empty also if the file can't be read. If it has become shorter, the next chunk starts at its
        end.
        """
        try:
            fd = os.open(self.path, _READ_FLAGS)
        except OSError:
            return TranscriptChunk(start, b"")
        try:
            return read_chunk(fd, start, max_bytes)
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
        """Trim the file if more is on disk: keep a quarter of `max_bytes` from the beginning and half of it from the
        end.

        False if there was nothing to do, or if the file system has no holes; the file is unchanged then.
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


def read_chunk(fd: int, start: int, max_bytes: int) -> TranscriptChunk:
    """Read a chunk; empty at the end. Raises OSError."""
    end = os.fstat(fd).st_size
    if start >= end:
        return TranscriptChunk(end, b"")
    first = _seek(fd, start, os.SEEK_DATA, end)
    stop = _seek(fd, first, os.SEEK_HOLE, end)
    return TranscriptChunk(first, os.pread(fd, min(max_bytes, stop - first), first))


def _seek(fd: int, at: int, what: int, end: int) -> int:
    """Find the next data or hole. In a file system without holes, everything is data."""
    try:
        return min(end, os.lseek(fd, at, what))
    except OSError as error:
        return end if error.errno == errno.ENXIO or what == os.SEEK_HOLE else at


_MAX_RESULT_BYTES = 1 << 20


def open_transcript(folder: StateFolder, attempt: Attempt) -> Transcript:
    return FileTranscript(folder.attempt(attempt).transcript)


# What the processes of an attempt leave in its folder: the result of a model job or a contest, and what tools record for people.
RECORD_FILES = frozenset({"result.json", "aider.chat.md", "aider.input", "mini.trajectory.json"})
MAX_RECORD_BYTES = 4 << 20  # of all together


def read_record_files(folder: Path) -> dict[str, bytes]:
    """Read the record files in a folder, by name. Only regular files are read: an agent may have left anything there."""
    found, room = dict[str, bytes](), MAX_RECORD_BYTES
    for name in sorted(RECORD_FILES):
        with suppress(OSError):
            data = read_regular_file(folder / name, MAX_RECORD_BYTES + 1)
            if len(data) <= room:
                found[name] = data
                room -= len(data)
    return found


def write_record_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the record files of an attempt that ran on another machine, which may send anything. Raises OSError."""
    for name, data in files.items():
        if name in RECORD_FILES and len(data) <= MAX_RECORD_BYTES:
            write_private_file(folder / name, data)


def read_result_file(folder: StateFolder, attempt: Attempt, name: str) -> Mapping[str, object]:
    """Read the JSON object that an attempt wrote; empty if it is missing, cut off or no object."""
    import json

    try:
        with (folder.attempt(attempt).path / name).open("rb") as file:
            value: object = json.loads(file.read(_MAX_RESULT_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
