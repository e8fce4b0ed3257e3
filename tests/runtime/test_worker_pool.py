"""Hands: errands about one thing go in order, errands about two go at once, and the loop hears of all."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial

import pytest

from plait.engine.reactor import SelectReactor
from plait.runtime.worker_pool import WorkerPool

LONG = 10.0


@pytest.fixture
def reactor() -> Iterator[SelectReactor]:
    reactor = SelectReactor()
    yield reactor
    reactor.close()


@pytest.fixture
def hands(reactor: SelectReactor) -> Iterator[WorkerPool]:
    hands = WorkerPool(reactor)
    yield hands
    hands.close()


def unexpected(error: Exception) -> None:
    raise AssertionError(error)


def test_what_comes_of_an_errand_is_told_in_the_loop(reactor: SelectReactor, hands: WorkerPool) -> None:
    told: list[tuple[int, str]] = []
    hands.submit("a", threading.get_ident, lambda who: told.append((who, threading.current_thread().name)), unexpected)
    assert not hands.is_idle
    assert reactor.run_until(lambda: hands.is_idle, LONG)
    [(worker, heard_in)] = told
    assert worker != threading.get_ident()
    assert heard_in == threading.current_thread().name


def test_errands_about_one_thing_go_one_at_a_time_and_in_order(reactor: SelectReactor, hands: WorkerPool) -> None:
    at_work, most, order = [0], [0], list[int]()
    gate = threading.Event()

    def errand(number: int) -> int:
        at_work[0] += 1
        most[0] = max(most[0], at_work[0])
        gate.wait(LONG if number == 0 else 0)
        at_work[0] -= 1
        return number

    for number in range(5):
        hands.submit("a", lambda number=number: errand(number), order.append, unexpected)  # type: ignore[misc]
    gate.set()
    assert reactor.run_until(lambda: hands.is_idle, LONG)
    assert (order, most) == ([0, 1, 2, 3, 4], [1])


def test_errands_about_two_things_go_at_once(reactor: SelectReactor, hands: WorkerPool) -> None:
    both = threading.Barrier(2, timeout=LONG)
    heard: list[int] = []
    for about in ("a", "b"):
        hands.submit(about, both.wait, heard.append, unexpected)
    assert reactor.run_until(lambda: hands.is_idle, LONG)
    assert sorted(heard) == [0, 1]


def test_an_errand_that_fails_is_told_and_the_next_one_goes(reactor: SelectReactor, hands: WorkerPool) -> None:
    heard: list[object] = []
    hands.submit("a", partial(divmod, 1, 0), heard.append, heard.append)
    hands.submit("a", lambda: 2, heard.append, unexpected)
    assert reactor.run_until(lambda: hands.is_idle, LONG)
    assert [type(each) for each in heard] == [ZeroDivisionError, int]


def test_what_an_errand_leads_to_may_be_another_errand(reactor: SelectReactor, hands: WorkerPool) -> None:
    heard: list[int] = []
    hands.submit("a", lambda: 1, lambda one: hands.submit("a", lambda: one + 1, heard.append, unexpected), unexpected)
    assert reactor.run_until(lambda: hands.is_idle, LONG)
    assert heard == [2]
