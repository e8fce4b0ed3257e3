"""What an attempt printed, from its beginning, piece by piece: however long it is, no more than a piece is in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from plait.core.fast_dataclass import dataclass
from plait.runtime import transcript

OUTPUT_CHUNK_BYTES = 64 << 10  # bytes


@dataclass(frozen=True, slots=True)
class OutputChunk:
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class OutputGap:
    """So many bytes from `offset` on are gone: the transcript grew past its cap."""

    offset: int
    size: int


class OutputReader:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0

    def read_new(self) -> Iterator[OutputChunk | OutputGap]:
        """What is there now and was not told yet."""
        while True:
            piece = transcript.read(self._path, self._offset, OUTPUT_CHUNK_BYTES)
            if not piece.data:
                return
            if piece.start > self._offset:
                yield OutputGap(self._offset, piece.start - self._offset)
            yield OutputChunk(piece.start, piece.data)
            self._offset = piece.end
