"""The story: the newest events of one project, ready to be sent, each to any number of readers. It belongs to one loop.

Readers hold a place in it and nothing else: who reads slowly is behind, and costs no memory. What has become too old to be
kept here is told again from the journal.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from plait.core.frozen import dataclass
from plait.front.event import Event, line
from plait.server.mark import Mark

MOST = 16 << 20  # bytes
CHUNK = 256 << 10  # bytes that are sent at once
_LAST = 1 << 30  # sorts behind every part


@dataclass(frozen=True, slots=True)
class Piece:
    """An event as it is sent. `part` as in its mark; what does not stand in the journal comes `beside` the record `seq`."""

    seq: int
    part: int
    batch: str | None
    data: bytes
    beside: bool = False

    @property
    def order(self) -> tuple[int, int]:
        return self.seq, self.part or _LAST


def pieces(journal: str, seq: int, events: Sequence[Event]) -> list[Piece]:
    """Those of one record."""
    return [
        _piece(Mark(journal, seq, number if number < len(events) else 0), event)
        for number, event in enumerate(events, 1)
    ]


def _piece(mark: Mark, event: Event) -> Piece:
    data = f"id: {mark}\nevent: {event.type.value}\ndata: {line(event)}\n\n".encode()
    return Piece(mark.seq, mark.part, event.batch, data)


class Story:
    """Everything after record `since` is here, up to record `seq`."""

    def __init__(self, journal: str, *, most: int = MOST) -> None:
        self.journal = journal
        self.since = self.seq = 0
        self._most = most
        self._pieces: list[Piece] = []
        self._first = 0  # how many were forgotten: the number of the first one here
        self._size = 0
        self._joined: tuple[int, int, bytes] = (0, 0, b"")

    @property
    def mark(self) -> Mark:
        """Of somebody who has heard everything."""
        return Mark(self.journal, self.seq)

    @property
    def end(self) -> int:
        """The place after the last piece."""
        return self._first + len(self._pieces)

    def add(self, told: Iterable[Piece], seq: int) -> None:
        """What follows from the records up to `seq`."""
        for piece in told:
            self._pieces.append(piece)
            self._size += len(piece.data)
        self.seq = seq
        if self._size > self._most:
            self._forget()

    def beside(self, events: Iterable[Event]) -> None:
        """What does not stand in the journal: whoever comes later has to ask for it by offset."""
        spelt = ((event, f"event: {event.type.value}\ndata: {line(event)}\n\n".encode()) for event in events)
        self.add([Piece(self.seq, 0, event.batch, data, beside=True) for event, data in spelt], self.seq)

    def place(self, mark: Mark) -> int | None:
        """Where to go on after this mark; None: that is no longer here, or not yet."""
        if mark.journal != self.journal or not self.since <= mark.seq <= self.seq:
            return None
        if mark.seq == self.since and mark.part:
            return None
        return self._first + bisect_right(
            self._pieces, (mark.seq, mark.part or _LAST), key=lambda piece: piece.order
        )

    def read(self, place: int) -> Sequence[Piece] | None:
        """What comes next, no more than is sent at once; None: it was forgotten."""
        if place < self._first:
            return None
        at, size = place - self._first, 0
        for end in range(at, len(self._pieces)):
            size += len(self._pieces[end].data)
            if size >= CHUNK:
                return self._pieces[at : end + 1]
        return self._pieces[at:]

    def joined(self, place: int, read: Sequence[Piece]) -> bytes:
        """Most readers are at the same place: what is sent to all of them is put together once."""
        if self._joined[:2] != (place, len(read)):
            self._joined = (place, len(read), b"".join(piece.data for piece in read))
        return self._joined[2]

    def _forget(self) -> None:
        """The older half, by whole records."""
        gone, size = 0, 0
        while gone < len(self._pieces) and size < self._size - self._most // 2:
            size += len(self._pieces[gone].data)
            gone += 1
        while 0 < gone < len(self._pieces) and self._pieces[gone].seq == self._pieces[gone - 1].seq:
            size += len(self._pieces[gone].data)
            gone += 1
        if gone:
            self.since = self._pieces[gone - 1].seq
            self._pieces = self._pieces[gone:]
            self._first += gone
            self._size -= size
