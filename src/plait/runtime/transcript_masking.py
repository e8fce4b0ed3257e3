"""Masks a transcript on disk: each secret is overwritten by as many bytes, so that all offsets stay valid.

Memory is bounded, whatever the transcript's size. A crash in between leaves some secrets unmasked; masking again is
fine. A process that still appends is not disturbed, but what it appends after the end of the scan isn't masked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from plait.agents.redaction import LineRedactor, Redactor, mask_secret
from plait.runtime.attempt_files import read_chunk

_CHUNK_BYTES = 1 << 20
_MAX_LINE_BYTES = 1 << 20  # a longer line is masked in parts
_OVERLAP_BYTES = 64 << 10  # of two parts: no secret is longer
_CHANGED = re.compile(rb"[^\0]+")


def mask_transcript(path: Path, redactor: Redactor) -> int:
    """Mask a transcript; return the size up to which it is masked, 0 if there is none. Raises OSError."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except FileNotFoundError:
        return 0
    try:
        before = os.fstat(fd)
        changed = False
        for at, data in _find_masks(fd, redactor, before.st_size):
            os.pwrite(fd, data, at)
            changed = True
        if changed:  # when something was printed still matters, for example for a rate limit that "resets in an hour"
            with suppress(OSError):
                os.utime(fd, ns=(before.st_atime_ns, before.st_mtime_ns))
        return before.st_size
    finally:
        os.close(fd)


def _find_masks(fd: int, redactor: Redactor, size: int) -> Iterator[tuple[int, bytes]]:
    for at, line, mask_line in _read_lines(fd, redactor, size):
        masked = mask_line(line.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        if masked != line:
            # Only what differs: parts of a long line overlap, and each may have masked what the other can't recognise.
            difference = int.from_bytes(line) ^ int.from_bytes(masked)
            for run in _CHANGED.finditer(difference.to_bytes(len(line))):
                yield at + run.start(), masked[run.start() : run.end()]


def _read_lines(fd: int, redactor: Redactor, size: int) -> Iterator[tuple[int, bytes, LineRedactor]]:
    """Yield lines with their offsets; those that are too long in parts. Text on both sides of a gap doesn't belong
    together.
    """
    mask_line = LineRedactor(redactor, mask_secret)
    at, rest, rest_at = 0, b"", 0
    while at < size:
        chunk = read_chunk(fd, at, min(_CHUNK_BYTES, size - at))
        if not chunk.data:
            break
        if chunk.start > at:
            yield rest_at, rest, mask_line
            mask_line, rest, rest_at = LineRedactor(redactor, mask_secret), b"", chunk.start
        *lines, rest = (rest + chunk.data).split(b"\n")
        for line in lines:
            yield rest_at, line, mask_line
            rest_at += len(line) + 1
        if len(rest) > _MAX_LINE_BYTES:
            yield rest_at, rest, mask_line
            rest_at += len(rest) - _OVERLAP_BYTES
            rest = rest[-_OVERLAP_BYTES:]
        at = chunk.end
    yield rest_at, rest, mask_line
