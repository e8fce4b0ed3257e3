"""What an attempt printed, from its beginning, piece by piece: however long it is, no more than a piece is in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from plait.core.frozen import dataclass
from plait.site import transcript

PIECE = 64 << 10  # bytes


@dataclass(frozen=True, slots=True)
class Printed:
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class LeftOut:
    """So many bytes from `offset` on are gone: the transcript grew past its cap."""

    offset: int
    size: int


class Output:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._at = 0

    def more(self) -> Iterator[Printed | LeftOut]:
        """What is there now and was not told yet."""
        while True:
            piece = transcript.read(self._path, self._at, PIECE)
            if not piece.data:
                return
            if piece.start > self._at:
                yield LeftOut(self._at, piece.start - self._at)
            yield Printed(piece.start, piece.data)
            self._at = piece.next
