"""Spans on their way: whoever puts them never waits, and nothing is lost that need not be."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence

import pytest

from plait.observe import tracing as sending
from plait.observe.spans import Span
from plait.observe.tracing import MAX_SPANS_PER_EXPORT, MAX_WAITING_SPANS, SpanBatch, SpanSender
from tests.support.waiting import TIMEOUT_SECONDS, wait_until


def parcel(seq: int, size: int = 1) -> SpanBatch:
    return SpanBatch(seq, tuple(Span(1, seq * 100_000 + n, None, "x", 0.0, 1.0) for n in range(size)))


class FakeChannel:
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
        self.open.wait(TIMEOUT_SECONDS)
        if self.answer is None:
            self.got += [span.id for span in spans]
        return self.answer

    def close(self) -> None:
        self.closed = True
        self.open.set()


class SenderHarness:
    def __init__(self, channel: Callable[[], FakeChannel]) -> None:
        self.arrived: list[int] = []
        self.said: list[str] = []
        self.sender = SpanSender(channel, self.arrived.append, self.said.append)

    def rests(self) -> bool:
        return self.sender.is_idle


@pytest.fixture
def channel() -> FakeChannel:
    return FakeChannel()


@pytest.fixture
def harness(channel: FakeChannel, monkeypatch: pytest.MonkeyPatch) -> Iterator[SenderHarness]:
    monkeypatch.setattr(sending, "FIRST_RETRY_SECONDS", 0.01)
    made = SenderHarness(lambda: channel)
    yield made
    made.sender.close()


def test_spans_arrive_in_order_and_the_cursor_follows(harness: SenderHarness, channel: FakeChannel) -> None:
    for seq in range(1, 6):
        harness.sender.put(parcel(seq))
    wait_until(harness.rests)
    assert channel.got == [seq * 100_000 for seq in range(1, 6)]
    assert harness.arrived[-1] == 5


def test_the_sender_is_not_idle_while_it_sends(harness: SenderHarness, channel: FakeChannel) -> None:
    assert harness.rests()
    channel.open.clear()
    harness.sender.put(parcel(1))
    wait_until(lambda: bool(channel.sizes))
    assert not harness.rests()
    channel.open.set()
    wait_until(harness.rests)


def test_a_refusal_is_logged_once_and_the_spans_are_sent_again(harness: SenderHarness, channel: FakeChannel) -> None:
    channel.answer = "nobody there"
    harness.sender.put(parcel(1))
    wait_until(lambda: len(channel.sizes) >= 3)
    assert harness.rests()
    assert harness.arrived == []
    channel.answer = None
    harness.sender.put(parcel(2))
    wait_until(lambda: harness.arrived[-1:] == [2])
    assert channel.got == [100_000, 200_000]
    assert [text.partition(",")[0] for text in harness.said] == [
        "warning: can't send traces",
        "traces can be sent again",
    ]


def test_refused_batches_keep_their_order(harness: SenderHarness, channel: FakeChannel) -> None:
    channel.answer = "nobody there"
    channel.open.clear()
    for seq in range(1, 5):
        harness.sender.put(parcel(seq))
    channel.open.set()
    wait_until(lambda: 4 in channel.sizes)
    channel.answer = None
    wait_until(lambda: harness.arrived[-1:] == [4])
    assert channel.got == [seq * 100_000 for seq in range(1, 5)]


def test_the_number_of_waiting_spans_is_limited(harness: SenderHarness, channel: FakeChannel) -> None:
    channel.open.clear()
    harness.sender.put(parcel(1))
    wait_until(lambda: bool(channel.sizes))
    for seq in range(2, 6):
        harness.sender.put(parcel(seq, MAX_WAITING_SPANS // 2))
    channel.open.set()
    wait_until(harness.rests)
    assert {span // 100_000 for span in channel.got} == {1, 4, 5}
    assert len([text for text in harness.said if "dropping the oldest" in text]) == 1


def test_exports_are_limited_in_size(harness: SenderHarness, channel: FakeChannel) -> None:
    channel.open.clear()
    harness.sender.put(parcel(1))
    wait_until(lambda: bool(channel.sizes))
    for seq in range(2, 12):
        harness.sender.put(parcel(seq, 100))
    channel.open.set()
    wait_until(harness.rests)
    assert channel.sizes[0] == 1
    assert max(channel.sizes) <= MAX_SPANS_PER_EXPORT
    assert sum(channel.sizes) == 1001


def test_the_first_cursor_is_written_though_nothing_arrives(channel: FakeChannel) -> None:
    channel.answer = "nobody there"
    both = threading.Event()

    def late() -> FakeChannel:
        both.wait(TIMEOUT_SECONDS)
        return channel

    harness = SenderHarness(late)
    harness.sender.put(SpanBatch(7, ()))
    harness.sender.put(parcel(8))
    both.set()
    wait_until(lambda: bool(channel.sizes))
    assert harness.arrived == [7]
    harness.sender.close()


def test_closing_does_not_wait_for_the_receiver(harness: SenderHarness, channel: FakeChannel) -> None:
    channel.open.clear()
    harness.sender.put(parcel(1))
    wait_until(lambda: bool(channel.sizes))
    harness.sender.close()
    assert channel.closed


def test_an_error_while_opening_a_channel_is_a_warning(channel: FakeChannel) -> None:
    def broken() -> FakeChannel:
        raise ValueError("no such certificate")

    harness = SenderHarness(broken)
    harness.sender.put(parcel(1))
    wait_until(harness.rests)
    assert harness.said == ["warning: can't send traces: no such certificate"]
    harness.sender.put(parcel(2))
    assert harness.rests()
    harness.sender.close()
    assert channel.got == []
