"""Hearing live events as a client does: what was heard, and how far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from plait.client.event_stream import EventStream
from plait.core.events import Record
from plait.server.event_buffer import encode_events
from plait.server.event_buffer__mark import EventCursor


@dataclass
class SseReader:
    """Whole events count, of what was cut off in the middle nothing does. What agents say is not kept."""

    last_event_id: str = ""
    events: list[bytes] = field(default_factory=list)
    _partial: bytes = b""

    def feed(self, data: bytes) -> None:
        *whole, self._partial = (self._partial + data).split(b"\n\n")
        for frame in whole:
            fields = dict(line.split(b": ", 1) for line in frame.split(b"\n") if b": " in line)
            self.last_event_id = fields.get(b"id", self.last_event_id.encode()).decode()
            if b"data" in fields and b"execution:log" not in fields[b"event"]:
                self.events.append(frame + b"\n\n")

    def disconnect(self) -> None:
        self._partial = b""

    @property
    def cursor(self) -> EventCursor | None:
        return EventCursor.parse(self.last_event_id)


def expected_events(journal: str, records: Sequence[Record]) -> list[bytes]:
    """What somebody hears who was there from the beginning and never cut off."""
    feed = EventStream()
    return [
        piece.data for record in records for piece in encode_events(journal, record.seq, feed.apply(record))
    ]
