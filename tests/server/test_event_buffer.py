from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given, settings, strategies as st

from plait.client.event_stream import EventStream
from plait.client.event_types import EventType, StreamEvent
from plait.core.events import Record
from plait.server.event_buffer import SSE_CHUNK_BYTES, BufferedEvent, EventBuffer, EventCursor, encode_events
from plait.testing.simulator.engine import simulate
from plait.testing.simulator.scenario import make_stormy

JOURNAL = "0123456789abcdef0123456789abcdef"


@cache
def history(seed: int) -> Sequence[Record]:
    return tuple(simulate(make_stormy(seed)).journal)


@cache
def make_events(seed: int) -> tuple[BufferedEvent, ...]:
    """All events, as a reader receives them that was connected from the beginning."""
    feed = EventStream()
    return tuple(piece for record in history(seed) for piece in encode_events(JOURNAL, record.seq, feed.apply(record)))


def written(seed: int, *, limit: int) -> EventBuffer:
    story, feed = EventBuffer(JOURNAL, max_bytes=limit), EventStream()
    for record in history(seed):
        story.append(encode_events(JOURNAL, record.seq, feed.apply(record)), record.seq)
    return story


def rest(story: EventBuffer, position: int) -> list[BufferedEvent]:
    found: list[BufferedEvent] = []
    while read := story.read(position):
        found += read
        position += len(read)
    return found


SEEDS = st.integers(0, 4)


@settings(max_examples=30)
@given(SEEDS, st.data())
def test_reading_from_any_cursor_returns_exactly_the_later_events(seed: int, data: st.DataObject) -> None:
    everything, story = make_events(seed), written(seed, limit=1 << 30)
    count = data.draw(st.integers(0, len(everything)))
    mark = (
        EventCursor(JOURNAL, everything[count - 1].seq, everything[count - 1].part)
        if count
        else EventCursor(JOURNAL, 0)
    )
    position = story.find_position(mark)
    assert position is not None
    assert rest(story, position) == list(everything[count:])


@settings(max_examples=30)
@given(SEEDS, st.integers(0, 20_000), st.data())
def test_dropped_events_are_reported_and_later_ones_are_complete(seed: int, limit: int, data: st.DataObject) -> None:
    everything, story = make_events(seed), written(seed, limit=limit)
    count = data.draw(st.integers(1, len(everything)))
    last = everything[count - 1]
    position = story.find_position(EventCursor(JOURNAL, last.seq, last.part))
    if position is None:
        assert last.seq <= story.since
    else:
        assert rest(story, position) == list(everything[count:])


def test_the_buffer_stays_within_its_limit() -> None:
    story = written(3, limit=10_000)
    kept = rest(story, story.end_position - len(story._events))
    assert sum(len(piece.data) for piece in kept) <= 10_000
    assert kept


def test_a_position_that_was_dropped_returns_none() -> None:
    story = EventBuffer(JOURNAL, max_bytes=1000)
    position = story.find_position(EventCursor(JOURNAL, 0))
    assert position == 0
    for seq in range(1, 100):
        story.append(encode_events(JOURNAL, seq, [StreamEvent(seq, 0.0, EventType.BATCH_PROGRESS, "b")]), seq)
    assert story.read(position) is None
    assert story.find_position(EventCursor(JOURNAL, 0)) is None


def test_the_id_of_an_event_says_whether_more_of_its_record_follow() -> None:
    events = [StreamEvent(7, 0.0, kind, "b") for kind in (EventType.TASK_COMPLETED, EventType.BATCH_PROGRESS)]
    first, second = encode_events(JOURNAL, 7, events)
    assert first.data.startswith(f"id: {JOURNAL}+1:7\nevent: batch:task:completed\ndata: {{".encode())
    assert second.data.startswith(f"id: {JOURNAL}:7\nevent: batch:progress\n".encode())


def test_line_breaks_in_a_text_do_not_split_an_event() -> None:
    event = StreamEvent(1, 0.0, EventType.TASK_FAILED, "b", data={"error": "a\nb\r\n\r\n\u2028data: {}"})
    (piece,) = encode_events(JOURNAL, 1, [event])
    assert piece.data.count(b"\n") == 4
    assert b"\r" not in piece.data


def test_transient_events_have_no_id_and_do_not_move_the_cursor() -> None:
    story = EventBuffer(JOURNAL)
    story.append(encode_events(JOURNAL, 1, [StreamEvent(1, 0.0, EventType.BATCH_PROGRESS, "b")]), 1)
    story.append_transient([StreamEvent(None, 0.0, EventType.EXECUTION_LOG, "b", "t", 1, {"offset": 0})])
    assert story.cursor == EventCursor(JOURNAL, 1)
    assert b"id:" not in rest(story, 1)[0].data
    assert story.find_position(EventCursor(JOURNAL, 1)) == story.end_position, (
        "whoever resumes has heard it, or asks by offset"
    )


def test_one_read_is_limited_to_a_chunk() -> None:
    story = EventBuffer(JOURNAL)
    long = StreamEvent(1, 0.0, EventType.TASK_FAILED, "b", data={"error": "x" * (SSE_CHUNK_BYTES // 3)})
    story.append([piece for seq in range(1, 20) for piece in encode_events(JOURNAL, seq, [long])], 19)
    read = story.read(0)
    assert read is not None
    assert len(read) == 3


@given(st.integers(0, 10**15 - 1), st.integers(0, 999_999))
def test_a_cursor_survives_formatting_and_parsing(seq: int, part: int) -> None:
    assert EventCursor.parse(str(EventCursor(JOURNAL, seq, part))) == EventCursor(JOURNAL, seq, part)


@pytest.mark.parametrize(
    "text",
    ["", "7", "00", ":7", "j:", "j:-1", "j:1.5", "j+0:1", "j+x:1", "a:b:1", "j:1\n", "j" * 65 + ":1", "j:²"],
)
def test_a_cursor_that_was_never_issued_is_invalid(text: str) -> None:
    assert EventCursor.parse(text) is None
