"""Spans on their way: whoever puts them never waits, and nothing is lost that need not be."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence

import pytest

from plait.observe import tracing as sending
from plait.observe.spans import Span
from plait.observe.tracing import MAX_SPANS_PER_EXPORT, MAX_WAITING_SPANS, SpanBatch, SpanSender

PATIENCE = 20.0


def parcel(seq: int, size: int = 1) -> SpanBatch:
    return SpanBatch(seq, tuple(Span(1, seq * 100_000 + n, None, "x", 0.0, 1.0) for n in range(size)))


class Line:
    """A channel whose other end the test holds: `answer` is what the next sending comes to."""

    def __init__(self) -> None:
        self.answer: str | None = None
        self.got: list[int] = []
        self.sizes: list[int] = []
        self.open = threading.Event()
        self.open.set()
        self.closed = False

    def send(self, spans: Sequence[Span]) -> str | None:
        self.sizes.append(len(spans))
        self.open.wait(PATIENCE)
        if self.answer is None:
            self.got += [span.id for span in spans]
        return self.answer

    def close(self) -> None:
        self.closed = True
        self.open.set()


class Desk:
    def __init__(self, channel: Callable[[], Line]) -> None:
        self.arrived: list[int] = []
        self.said: list[str] = []
        self.sender = SpanSender(channel, self.arrived.append, self.said.append)

    def rests(self) -> bool:
        return self.sender.is_idle


@pytest.fixture
def line() -> Line:
    return Line()


@pytest.fixture
def desk(line: Line, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.setattr(sending, "FIRST_RETRY_SECONDS", 0.01)
    made = Desk(lambda: line)
    yield made
    made.sender.close()


def until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not reached():
        assert time.monotonic() < deadline
        time.sleep(0.002)


def test_they_arrive_in_order_and_it_is_known_how_far(desk: Desk, line: Line) -> None:
    for seq in range(1, 6):
        desk.sender.put(parcel(seq))
    until(desk.rests)
    assert line.got == [seq * 100_000 for seq in range(1, 6)]
    assert desk.arrived[-1] == 5


def test_it_is_not_at_rest_while_something_is_on_its_way(desk: Desk, line: Line) -> None:
    assert desk.rests()
    line.open.clear()
    desk.sender.put(parcel(1))
    until(lambda: bool(line.sizes))
    assert not desk.rests()
    line.open.set()
    until(desk.rests)


def test_a_refusal_is_said_once_and_what_was_refused_is_sent_again(desk: Desk, line: Line) -> None:
    line.answer = "nobody there"
    desk.sender.put(parcel(1))
    until(lambda: len(line.sizes) >= 3)
    assert desk.rests()
    assert desk.arrived == []
    line.answer = None
    desk.sender.put(parcel(2))
    until(lambda: desk.arrived[-1:] == [2])
    assert line.got == [100_000, 200_000]
    assert [text.partition(",")[0] for text in desk.said] == [
        "warning: can't send traces",
        "traces can be sent again",
    ]


def test_what_was_refused_together_keeps_its_order(desk: Desk, line: Line) -> None:
    line.answer = "nobody there"
    line.open.clear()
    for seq in range(1, 5):
        desk.sender.put(parcel(seq))
    line.open.set()
    until(lambda: 4 in line.sizes)
    line.answer = None
    until(lambda: desk.arrived[-1:] == [4])
    assert line.got == [seq * 100_000 for seq in range(1, 5)]


def test_no_more_wait_than_there_is_room_for(desk: Desk, line: Line) -> None:
    line.open.clear()
    desk.sender.put(parcel(1))
    until(lambda: bool(line.sizes))
    for seq in range(2, 6):
        desk.sender.put(parcel(seq, MAX_WAITING_SPANS // 2))
    line.open.set()
    until(desk.rests)
    assert {span // 100_000 for span in line.got} == {1, 4, 5}
    assert len([text for text in desk.said if "dropping the oldest" in text]) == 1


def test_they_are_sent_in_portions(desk: Desk, line: Line) -> None:
    line.open.clear()
    desk.sender.put(parcel(1))
    until(lambda: bool(line.sizes))
    for seq in range(2, 12):
        desk.sender.put(parcel(seq, 100))
    line.open.set()
    until(desk.rests)
    assert line.sizes[0] == 1
    assert max(line.sizes) <= MAX_SPANS_PER_EXPORT
    assert sum(line.sizes) == 1001


def test_where_to_begin_is_known_though_nothing_arrives(line: Line) -> None:
    line.answer = "nobody there"
    both = threading.Event()

    def late() -> Line:
        both.wait(PATIENCE)
        return line

    desk = Desk(late)
    desk.sender.put(SpanBatch(7, ()))
    desk.sender.put(parcel(8))
    both.set()
    until(lambda: bool(line.sizes))
    assert desk.arrived == [7]
    desk.sender.close()


def test_closing_waits_for_nobody(desk: Desk, line: Line) -> None:
    line.open.clear()
    desk.sender.put(parcel(1))
    until(lambda: bool(line.sizes))
    desk.sender.close()
    assert line.closed


def test_whatever_goes_wrong_in_a_channel_is_a_warning(line: Line) -> None:
    def broken() -> Line:
        raise ValueError("no such certificate")

    desk = Desk(broken)
    desk.sender.put(parcel(1))
    until(desk.rests)
    assert desk.said == ["warning: can't send traces: no such certificate"]
    desk.sender.put(parcel(2))
    assert desk.rests()
    desk.sender.close()
    assert line.got == []
