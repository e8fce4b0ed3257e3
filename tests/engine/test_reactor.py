from __future__ import annotations

import os
from collections.abc import Iterator
from threading import Thread

import pytest

from plait.runtime.reactor import SelectReactor
from tests.support.reactor import run_until


@pytest.fixture
def reactor() -> Iterator[SelectReactor]:
    made = SelectReactor()
    yield made
    made.close()


def test_a_descriptor_with_something_to_read_calls_back(reactor: SelectReactor) -> None:
    inner, outer = os.pipe()
    heard: list[bytes] = []
    reactor.watch(inner, lambda: heard.append(os.read(inner, 10)))
    os.write(outer, b"hello")
    assert run_until(reactor, lambda: bool(heard), 5)
    assert heard == [b"hello"]
    reactor.unwatch(inner)
    os.write(outer, b"again")
    reactor.step(0.0)
    assert heard == [b"hello"]
    os.close(inner)
    os.close(outer)


def test_timers_fire_in_the_order_of_their_times(reactor: SelectReactor) -> None:
    rung: list[str] = []
    reactor.call_later(0.02, lambda: rung.append("later"))
    reactor.call_later(0.0, lambda: rung.append("now"))
    assert run_until(reactor, lambda: len(rung) == 2, 5)
    assert rung == ["now", "later"]


def test_a_cancelled_timer_neither_fires_nor_wakes_the_loop(reactor: SelectReactor) -> None:
    rung: list[str] = []
    reactor.call_later(0.0, lambda: rung.append("cancelled")).cancel()
    reactor.call_later(0.01, lambda: rung.append("kept"))
    assert run_until(reactor, lambda: bool(rung), 5)
    assert rung == ["kept"]


def test_another_thread_can_schedule_a_call(reactor: SelectReactor) -> None:
    called: list[str] = []
    thread = Thread(target=lambda: reactor.call_soon(lambda: called.append("here")))
    thread.start()
    assert run_until(reactor, lambda: bool(called), 5)
    thread.join()


def test_a_call_scheduled_by_a_scheduled_call_runs_in_the_next_step(reactor: SelectReactor) -> None:
    called: list[int] = []

    def again() -> None:
        called.append(len(called))
        if len(called) < 3:
            reactor.call_soon(again)

    reactor.call_soon(again)
    reactor.step(1.0)
    assert called == [0]
    assert run_until(reactor, lambda: len(called) == 3, 5)


def test_a_descriptor_that_another_callback_unwatched_is_not_called(
    reactor: SelectReactor,
) -> None:
    pipes = [os.pipe() for _ in range(2)]
    called: list[int] = []

    def first_of_both(mine: int, other: int) -> None:
        called.append(mine)
        reactor.unwatch(other)
        reactor.unwatch(mine)

    (one, _), (two, _) = pipes
    reactor.watch(one, lambda: first_of_both(one, two))
    reactor.watch(two, lambda: first_of_both(two, one))
    for _, outer in pipes:
        os.write(outer, b".")
    reactor.step(1.0)
    reactor.step(0.0)
    assert len(called) == 1
    for ends in pipes:
        for end in ends:
            os.close(end)
