"""A mark: how far somebody has heard a project's events. It is the `id:` of an event, and what `Last-Event-ID` gives back.

The story: the newest events of one project, ready to be sent, each to any number of readers. It belongs to one loop.

Readers hold a place in it and nothing else: who reads slowly is behind, and costs no memory. What has become too old to be
kept here is told again from the journal.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from plait.client.stream_event import StreamEvent, format_json_line
from plait.core.fast_dataclass import dataclass

START = "0"


_CURSOR_PATTERN = re.compile(r"([0-9A-Za-z_-]{1,64})(?:\+([1-9][0-9]{0,5}))?:([0-9]{1,15})")


@dataclass(frozen=True, slots=True)
class EventCursor:
    """All that follows from the records of a journal up to `seq`; `part` > 0: of the last one, only so many events.

    Without a journal it is the beginning of whatever journal there will be.
    """

    journal: str
    seq: int
    part: int = 0

    def __str__(self) -> str:
        """`<journal id>:<seq>`. An event that is not the last of its record says which one it is: `<journal id>+1:<seq>`."""
        if not self.journal:
            return START
        return f"{self.journal}+{self.part}:{self.seq}" if self.part else f"{self.journal}:{self.seq}"

    @classmethod
    def parse(cls, text: str) -> EventCursor | None:
        """None: nobody ever got such an id from here."""
        if text == START:
            return cls("", 0)
        found = _CURSOR_PATTERN.fullmatch(text)
        return None if found is None else cls(found[1], int(found[3]), int(found[2] or 0))


BUFFER_BYTES = 16 << 20  # bytes


SSE_CHUNK_BYTES = 256 << 10  # bytes that are sent at once


_AFTER_ALL_PARTS = 1 << 30  # sorts behind every part


@dataclass(frozen=True, slots=True)
class BufferedEvent:
    """An event as it is sent. `part` as in its mark; what does not stand in the journal comes `beside` the record `seq`."""

    seq: int
    part: int
    batch: str | None
    data: bytes
    transient: bool = False

    @property
    def sort_key(self) -> tuple[int, int]:
        return self.seq, self.part or _AFTER_ALL_PARTS


def encode_events(journal: str, seq: int, events: Sequence[StreamEvent]) -> list[BufferedEvent]:
    """Those of one record."""
    return [
        _encode_event(EventCursor(journal, seq, number if number < len(events) else 0), event)
        for number, event in enumerate(events, 1)
    ]


def _encode_event(cursor: EventCursor, event: StreamEvent) -> BufferedEvent:
    data = f"id: {cursor}\nevent: {event.type.value}\ndata: {format_json_line(event)}\n\n".encode()
    return BufferedEvent(cursor.seq, cursor.part, event.batch, data)


class EventBuffer:
    """Everything after record `since` is here, up to record `seq`."""

    def __init__(self, journal: str, *, max_bytes: int = BUFFER_BYTES) -> None:
        self.journal = journal
        self.since = self.seq = 0
        self._max_bytes = max_bytes
        self._events: list[BufferedEvent] = []
        self._dropped_count = 0  # how many were forgotten: the number of the first one here
        self._size = 0
        self._join_cache: tuple[int, int, bytes] = (0, 0, b"")

    @property
    def cursor(self) -> EventCursor:
        """Of somebody who has heard everything."""
        return EventCursor(self.journal, self.seq)

    @property
    def end_position(self) -> int:
        """The place after the last piece."""
        return self._dropped_count + len(self._events)

    def append(self, events: Iterable[BufferedEvent], seq: int) -> None:
        """What follows from the records up to `seq`."""
        for event in events:
            self._events.append(event)
            self._size += len(event.data)
        self.seq = seq
        if self._size > self._max_bytes:
            self._drop_oldest()

    def append_transient(self, events: Iterable[StreamEvent]) -> None:
        """What does not stand in the journal: whoever comes later has to ask for it by offset."""
        encoded = (
            (event, f"event: {event.type.value}\ndata: {format_json_line(event)}\n\n".encode()) for event in events
        )
        self.append(
            [BufferedEvent(self.seq, 0, event.batch, data, transient=True) for event, data in encoded],
            self.seq,
        )

    def find_position(self, cursor: EventCursor) -> int | None:
        """Where to go on after this mark; None: that is no longer here, or not yet."""
        if cursor.journal != self.journal or not self.since <= cursor.seq <= self.seq:
            return None
        if cursor.seq == self.since and cursor.part:
            return None
        return self._dropped_count + bisect_right(
            self._events, (cursor.seq, cursor.part or _AFTER_ALL_PARTS), key=lambda piece: piece.sort_key
        )

    def read(self, position: int) -> Sequence[BufferedEvent] | None:
        """What comes next, no more than is sent at once; None: it was forgotten."""
        if position < self._dropped_count:
            return None
        at, size = position - self._dropped_count, 0
        for end in range(at, len(self._events)):
            size += len(self._events[end].data)
            if size >= SSE_CHUNK_BYTES:
                return self._events[at : end + 1]
        return self._events[at:]

    def join(self, position: int, events: Sequence[BufferedEvent]) -> bytes:
        """Most readers are at the same place: what is sent to all of them is put together once."""
        if self._join_cache[:2] != (position, len(events)):
            self._join_cache = (position, len(events), b"".join(piece.data for piece in events))
        return self._join_cache[2]

    def _drop_oldest(self) -> None:
        """The older half, by whole records."""
        dropped, size = 0, 0
        while dropped < len(self._events) and size < self._size - self._max_bytes // 2:
            size += len(self._events[dropped].data)
            dropped += 1
        while 0 < dropped < len(self._events) and self._events[dropped].seq == self._events[dropped - 1].seq:
            size += len(self._events[dropped].data)
            dropped += 1
        if dropped:
            self.since = self._events[dropped - 1].seq
            self._events = self._events[dropped:]
            self._dropped_count += dropped
            self._size -= size
