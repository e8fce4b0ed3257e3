from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given, settings, strategies as st

from plait.client.event_stream import EventStream
from plait.client.stream_event import EventType, StreamEvent
from plait.core.events import Record
from plait.server.event_buffer import SSE_CHUNK_BYTES, BufferedEvent, EventBuffer, EventCursor, encode_events
from plait.testing.simulator.engine import simulate
from plait.testing.simulator.scenario import make_stormy

JOURNAL = "0123456789abcdef0123456789abcdef"


@cache
def history(seed: int) -> Sequence[Record]:
    return tuple(simulate(make_stormy(seed)).journal)


@cache
def told(seed: int) -> tuple[BufferedEvent, ...]:
    """Everything, as somebody hears it who was there from the beginning."""
    feed = EventStream()
    return tuple(piece for record in history(seed) for piece in encode_events(JOURNAL, record.seq, feed.apply(record)))


def written(seed: int, *, most: int) -> EventBuffer:
    story, feed = EventBuffer(JOURNAL, max_bytes=most), EventStream()
    for record in history(seed):
        story.append(encode_events(JOURNAL, record.seq, feed.apply(record)), record.seq)
    return story


def rest(story: EventBuffer, place: int) -> list[BufferedEvent]:
    found: list[BufferedEvent] = []
    while read := story.read(place):
        found += read
        place += len(read)
    return found


SEEDS = st.integers(0, 4)


@settings(deadline=None, max_examples=30)
@given(SEEDS, st.data())
def test_after_any_event_comes_exactly_what_follows_it(seed: int, data: st.DataObject) -> None:
    everything, story = told(seed), written(seed, most=1 << 30)
    heard = data.draw(st.integers(0, len(everything)))
    mark = (
        EventCursor(JOURNAL, everything[heard - 1].seq, everything[heard - 1].part)
        if heard
        else EventCursor(JOURNAL, 0)
    )
    place = story.find_position(mark)
    assert place is not None
    assert rest(story, place) == list(everything[heard:])


@settings(deadline=None, max_examples=30)
@given(SEEDS, st.integers(0, 20_000), st.data())
def test_what_was_forgotten_is_said_to_be_and_nothing_else_is_missing(
    seed: int, most: int, data: st.DataObject
) -> None:
    everything, story = told(seed), written(seed, most=most)
    heard = data.draw(st.integers(1, len(everything)))
    last = everything[heard - 1]
    place = story.find_position(EventCursor(JOURNAL, last.seq, last.part))
    if place is None:
        assert last.seq <= story.since
    else:
        assert rest(story, place) == list(everything[heard:])


def test_a_story_never_holds_much_more_than_it_may() -> None:
    story = written(3, most=10_000)
    kept = rest(story, story.end_position - len(story._events))
    assert sum(len(piece.data) for piece in kept) <= 10_000
    assert kept


def test_who_fell_behind_is_told_so() -> None:
    story = EventBuffer(JOURNAL, max_bytes=1000)
    place = story.find_position(EventCursor(JOURNAL, 0))
    assert place == 0
    for seq in range(1, 100):
        story.append(encode_events(JOURNAL, seq, [StreamEvent(seq, 0.0, EventType.BATCH_PROGRESS, "b")]), seq)
    assert story.read(place) is None
    assert story.find_position(EventCursor(JOURNAL, 0)) is None


def test_an_event_that_is_not_the_last_of_its_record_says_so_in_its_id() -> None:
    events = [StreamEvent(7, 0.0, kind, "b") for kind in (EventType.TASK_COMPLETED, EventType.BATCH_PROGRESS)]
    first, second = encode_events(JOURNAL, 7, events)
    assert first.data.startswith(f"id: {JOURNAL}+1:7\nevent: batch:task:completed\ndata: {{".encode())
    assert second.data.startswith(f"id: {JOURNAL}:7\nevent: batch:progress\n".encode())


def test_a_text_with_line_breaks_is_still_one_event() -> None:
    event = StreamEvent(1, 0.0, EventType.TASK_FAILED, "b", data={"error": "a\nb\r\n\r\n\u2028data: {}"})
    (piece,) = encode_events(JOURNAL, 1, [event])
    assert piece.data.count(b"\n") == 4
    assert b"\r" not in piece.data


def test_what_stands_in_no_journal_has_no_id_and_moves_no_mark() -> None:
    story = EventBuffer(JOURNAL)
    story.append(encode_events(JOURNAL, 1, [StreamEvent(1, 0.0, EventType.BATCH_PROGRESS, "b")]), 1)
    story.append_transient([StreamEvent(None, 0.0, EventType.EXECUTION_LOG, "b", "t", 1, {"offset": 0})])
    assert story.cursor == EventCursor(JOURNAL, 1)
    assert b"id:" not in rest(story, 1)[0].data
    assert story.find_position(EventCursor(JOURNAL, 1)) == story.end_position, (
        "whoever resumes has heard it, or asks by offset"
    )


def test_one_reading_is_no_longer_than_is_sent_at_once() -> None:
    story = EventBuffer(JOURNAL)
    long = StreamEvent(1, 0.0, EventType.TASK_FAILED, "b", data={"error": "x" * (SSE_CHUNK_BYTES // 3)})
    story.append([piece for seq in range(1, 20) for piece in encode_events(JOURNAL, seq, [long])], 19)
    read = story.read(0)
    assert read is not None
    assert len(read) == 3


@given(st.integers(0, 10**15 - 1), st.integers(0, 999_999))
def test_a_mark_is_read_back_as_it_was_spelt(seq: int, part: int) -> None:
    assert EventCursor.parse(str(EventCursor(JOURNAL, seq, part))) == EventCursor(JOURNAL, seq, part)


@pytest.mark.parametrize(
    "text",
    ["", "7", "00", ":7", "j:", "j:-1", "j:1.5", "j+0:1", "j+x:1", "a:b:1", "j:1\n", "j" * 65 + ":1", "j:²"],
)
def test_what_nobody_ever_got_from_here_is_no_mark(text: str) -> None:
    assert EventCursor.parse(text) is None
