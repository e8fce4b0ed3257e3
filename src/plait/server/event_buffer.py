"""The newest events of a project, encoded for event streams, and the cursors of their readers.

A cursor is the `id:` of an event, and comes back as `Last-Event-ID`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from plait.client.event_types import StreamEvent, format_json_line
from plait.core.fast_dataclass import dataclass

START = "0"
_CURSOR_PATTERN = re.compile(r"([0-9A-Za-z_-]{1,64})(?:\+([1-9][0-9]{0,5}))?:([0-9]{1,15})")


@dataclass(frozen=True, slots=True)
class EventCursor:
    """A position in a journal's events: after the records up to `seq`; `part` > 0: of the last record, only after this
    many events.

    Without a journal it is the beginning of any future journal.
    """

    journal: str
    seq: int
    part: int = 0

    def __str__(self) -> str:
        """Return `<journal id>:<seq>`, or `<journal id>+<part>:<seq>` for an event that is not the last of its record."""
        if not self.journal:
            return START
        return f"{self.journal}+{self.part}:{self.seq}" if self.part else f"{self.journal}:{self.seq}"

    @classmethod
    def parse(cls, text: str) -> EventCursor | None:
        """Parse a cursor; None if it is not an id of this server."""
        if text == START:
            return cls("", 0)
        match = _CURSOR_PATTERN.fullmatch(text)
        return None if match is None else cls(match[1], int(match[3]), int(match[2] or 0))


BUFFER_BYTES = 16 << 20
SSE_CHUNK_BYTES = 256 << 10  # sent at once
_AFTER_ALL_PARTS = 1 << 30  # sorts after every part


@dataclass(frozen=True, slots=True)
class BufferedEvent:
    """An encoded event. `part` as in its cursor. `transient`: not in the journal; it follows the record `seq`."""

    seq: int
    part: int
    batch: str | None
    data: bytes
    transient: bool = False

    @property
    def sort_key(self) -> tuple[int, int]:
        return self.seq, self.part or _AFTER_ALL_PARTS


def encode_events(journal: str, seq: int, events: Sequence[StreamEvent]) -> list[BufferedEvent]:
    """Encode the events of one record."""
    return [
        _encode_event(EventCursor(journal, seq, number if number < len(events) else 0), event)
        for number, event in enumerate(events, 1)
    ]


def encode_transient(event: StreamEvent) -> bytes:
    """Encode an event without an id, so that it doesn't move the reader's cursor."""
    return f"event: {event.type.value}\ndata: {format_json_line(event)}\n\n".encode()


def _encode_event(cursor: EventCursor, event: StreamEvent) -> BufferedEvent:
    data = f"id: {cursor}\nevent: {event.type.value}\ndata: {format_json_line(event)}\n\n".encode()
    return BufferedEvent(cursor.seq, cursor.part, event.batch, data)


class EventBuffer:
    """The newest events: those after record `since`, up to record `seq`. Belongs to one event loop.

    Readers hold only a position, so a slow reader costs no memory. Older events are replayed from the journal.
    """

    def __init__(self, journal: str, *, max_bytes: int = BUFFER_BYTES) -> None:
        self.journal = journal
        self.since = self.seq = 0
        self._max_bytes = max_bytes
        self._events: list[BufferedEvent] = []
        self._dropped_count = 0  # also the position of the first event
        self._size = 0
        self._join_cache: tuple[int, int, bytes] = (0, 0, b"")

    @property
    def cursor(self) -> EventCursor:
        """The cursor of a reader that has all events."""
        return EventCursor(self.journal, self.seq)

    @property
    def end_position(self) -> int:
        """The position after the last event."""
        return self._dropped_count + len(self._events)

    def append(self, events: Iterable[BufferedEvent], seq: int) -> None:
        """Append the events of the records up to `seq`."""
        for event in events:
            self._events.append(event)
            self._size += len(event.data)
        self.seq = seq
        if self._size > self._max_bytes:
            self._drop_oldest()

    def append_transient(self, events: Iterable[StreamEvent]) -> None:
        """Append events that are not in the journal and can't be replayed."""
        self.append(
            [BufferedEvent(self.seq, 0, event.batch, encode_transient(event), transient=True) for event in events],
            self.seq,
        )

    def find_position(self, cursor: EventCursor) -> int | None:
        """Return the position after this cursor; None if it is no longer in the buffer, or not yet."""
        if cursor.journal != self.journal or not self.since <= cursor.seq <= self.seq:
            return None
        if cursor.seq == self.since and cursor.part:
            return None
        return self._dropped_count + bisect_right(
            self._events, (cursor.seq, cursor.part or _AFTER_ALL_PARTS), key=lambda event: event.sort_key
        )

    def read(self, position: int) -> Sequence[BufferedEvent] | None:
        """Return the next chunk; None if it was dropped."""
        if position < self._dropped_count:
            return None
        start, size = position - self._dropped_count, 0
        for end in range(start, len(self._events)):
            size += len(self._events[end].data)
            if size >= SSE_CHUNK_BYTES:
                return self._events[start : end + 1]
        return self._events[start:]

    def join(self, position: int, events: Sequence[BufferedEvent]) -> bytes:
        """Return the encoded chunk, which is cached: most readers are at the same position."""
        if self._join_cache[:2] != (position, len(events)):
            self._join_cache = (position, len(events), b"".join(event.data for event in events))
        return self._join_cache[2]

    def _drop_oldest(self) -> None:
        """Drop the older half, by whole records."""
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
