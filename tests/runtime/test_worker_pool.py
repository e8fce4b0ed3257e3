"""Jobs with one key run in order, jobs with different keys at once; results are handled in the loop."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial

import pytest

from plait.runtime.reactor import SelectReactor
from plait.runtime.worker_pool import WorkerPool
from tests.support.reactor import run_until

LONG = 10.0


@pytest.fixture
def reactor() -> Iterator[SelectReactor]:
    reactor = SelectReactor()
    yield reactor
    reactor.close()


@pytest.fixture
def pool(reactor: SelectReactor) -> Iterator[WorkerPool]:
    pool = WorkerPool(reactor)
    yield pool
    pool.close()


def unexpected(error: Exception) -> None:
    raise AssertionError(error)


def test_the_result_of_a_job_is_handled_in_the_loop(reactor: SelectReactor, pool: WorkerPool) -> None:
    output: list[tuple[int, str]] = []
    pool.submit("a", threading.get_ident, lambda who: output.append((who, threading.current_thread().name)), unexpected)
    assert not pool.is_idle
    assert run_until(reactor, lambda: pool.is_idle, LONG)
    [(worker, heard_in)] = output
    assert worker != threading.get_ident()
    assert heard_in == threading.current_thread().name


def test_jobs_with_one_key_run_one_at_a_time_and_in_order(reactor: SelectReactor, pool: WorkerPool) -> None:
    at_work, most, order = [0], [0], list[int]()
    gate = threading.Event()

    def job(number: int) -> int:
        at_work[0] += 1
        most[0] = max(most[0], at_work[0])
        gate.wait(LONG if number == 0 else 0)
        at_work[0] -= 1
        return number

    for number in range(5):
        pool.submit("a", lambda number=number: job(number), order.append, unexpected)  # type: ignore[misc]
    gate.set()
    assert run_until(reactor, lambda: pool.is_idle, LONG)
    assert (order, most) == ([0, 1, 2, 3, 4], [1])


def test_jobs_with_different_keys_run_in_parallel(reactor: SelectReactor, pool: WorkerPool) -> None:
    both = threading.Barrier(2, timeout=LONG)
    heard: list[int] = []
    for about in ("a", "b"):
        pool.submit(about, both.wait, heard.append, unexpected)
    assert run_until(reactor, lambda: pool.is_idle, LONG)
    assert sorted(heard) == [0, 1]


def test_a_failed_job_is_reported_and_the_next_one_runs(reactor: SelectReactor, pool: WorkerPool) -> None:
    heard: list[object] = []
    pool.submit("a", partial(divmod, 1, 0), heard.append, heard.append)
    pool.submit("a", lambda: 2, heard.append, unexpected)
    assert run_until(reactor, lambda: pool.is_idle, LONG)
    assert [type(each) for each in heard] == [ZeroDivisionError, int]


def test_a_result_handler_can_submit_another_job(reactor: SelectReactor, pool: WorkerPool) -> None:
    heard: list[int] = []

    def submit_another(one: int) -> None:
        pool.submit("a", lambda: one + 1, heard.append, unexpected)

    pool.submit("a", lambda: 1, submit_another, unexpected)
    assert run_until(reactor, lambda: pool.is_idle, LONG)
    assert heard == [2]
