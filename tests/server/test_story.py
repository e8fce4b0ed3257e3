from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pytest
from hypothesis import given, settings, strategies as st

from plait.core.events import Record
from plait.front.event import Event, EventType
from plait.front.feed import Feed
from plait.server.mark import Mark
from plait.server.story import CHUNK, Piece, Story, pieces
from plait.testing.run import run
from plait.testing.scenario import stormy

JOURNAL = "0123456789abcdef0123456789abcdef"


@cache
def history(seed: int) -> Sequence[Record]:
    return tuple(run(stormy(seed)).journal)


@cache
def told(seed: int) -> tuple[Piece, ...]:
    """Everything, as somebody hears it who was there from the beginning."""
    feed = Feed()
    return tuple(
        piece for record in history(seed) for piece in pieces(JOURNAL, record.seq, feed.take(record))
    )


def written(seed: int, *, most: int) -> Story:
    story, feed = Story(JOURNAL, most=most), Feed()
    for record in history(seed):
        story.add(pieces(JOURNAL, record.seq, feed.take(record)), record.seq)
    return story


def rest(story: Story, place: int) -> list[Piece]:
    found: list[Piece] = []
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
    mark = Mark(JOURNAL, everything[heard - 1].seq, everything[heard - 1].part) if heard else Mark(JOURNAL, 0)
    place = story.place(mark)
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
    place = story.place(Mark(JOURNAL, last.seq, last.part))
    if place is None:
        assert last.seq <= story.since
    else:
        assert rest(story, place) == list(everything[heard:])


def test_a_story_never_holds_much_more_than_it_may() -> None:
    story = written(3, most=10_000)
    kept = rest(story, story.end - len(story._pieces))
    assert sum(len(piece.data) for piece in kept) <= 10_000
    assert kept


def test_who_fell_behind_is_told_so() -> None:
    story = Story(JOURNAL, most=1000)
    place = story.place(Mark(JOURNAL, 0))
    assert place == 0
    for seq in range(1, 100):
        story.add(pieces(JOURNAL, seq, [Event(seq, 0.0, EventType.BATCH_PROGRESS, "b")]), seq)
    assert story.read(place) is None
    assert story.place(Mark(JOURNAL, 0)) is None


def test_an_event_that_is_not_the_last_of_its_record_says_so_in_its_id() -> None:
    events = [Event(7, 0.0, kind, "b") for kind in (EventType.TASK_COMPLETED, EventType.BATCH_PROGRESS)]
    first, second = pieces(JOURNAL, 7, events)
    assert first.data.startswith(f"id: {JOURNAL}+1:7\nevent: batch:task:completed\ndata: {{".encode())
    assert second.data.startswith(f"id: {JOURNAL}:7\nevent: batch:progress\n".encode())


def test_a_text_with_line_breaks_is_still_one_event() -> None:
    event = Event(1, 0.0, EventType.TASK_FAILED, "b", more={"error": "a\nb\r\n\r\n\u2028data: {}"})
    (piece,) = pieces(JOURNAL, 1, [event])
    assert piece.data.count(b"\n") == 4
    assert b"\r" not in piece.data


def test_what_stands_in_no_journal_has_no_id_and_moves_no_mark() -> None:
    story = Story(JOURNAL)
    story.add(pieces(JOURNAL, 1, [Event(1, 0.0, EventType.BATCH_PROGRESS, "b")]), 1)
    story.beside([Event(None, 0.0, EventType.EXECUTION_LOG, "b", "t", 1, {"offset": 0})])
    assert story.mark == Mark(JOURNAL, 1)
    assert b"id:" not in rest(story, 1)[0].data
    assert story.place(Mark(JOURNAL, 1)) == story.end, "whoever resumes has heard it, or asks by offset"


def test_one_reading_is_no_longer_than_is_sent_at_once() -> None:
    story = Story(JOURNAL)
    long = Event(1, 0.0, EventType.TASK_FAILED, "b", more={"error": "x" * (CHUNK // 3)})
    story.add([piece for seq in range(1, 20) for piece in pieces(JOURNAL, seq, [long])], 19)
    read = story.read(0)
    assert read is not None
    assert len(read) == 3


@given(st.integers(0, 10**15 - 1), st.integers(0, 999_999))
def test_a_mark_is_read_back_as_it_was_spelt(seq: int, part: int) -> None:
    assert Mark.of(str(Mark(JOURNAL, seq, part))) == Mark(JOURNAL, seq, part)


@pytest.mark.parametrize(
    "text",
    ["", "7", "00", ":7", "j:", "j:-1", "j:1.5", "j+0:1", "j+x:1", "a:b:1", "j:1\n", "j" * 65 + ":1", "j:²"],
)
def test_what_nobody_ever_got_from_here_is_no_mark(text: str) -> None:
    assert Mark.of(text) is None
