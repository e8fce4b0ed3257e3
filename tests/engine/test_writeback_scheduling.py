from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue

import pytest

from plait.core.decisions import AttemptStarted, BatchEnded
from plait.core.events import Event, Record
from plait.core.graph import build_checked_plan
from plait.core.plan import Problem
from plait.core.requests import Submit
from plait.core.settings import Settings, WriteBack
from plait.core.status import BatchStatus
from plait.core.task import Attempt, Origin, Step, Task
from plait.engine.status_writeback import PAUSE_SECONDS, REST_FACTOR, StatusWriter
from plait.runtime.worker_pool import WorkerPool
from plait.sources.status_changes import StatusChange, StatusFileWriter
from tests.support.waiting import TIMEOUT_SECONDS

SLOW = 0.2


class Alarms:
    """A Reactor whose timers fire when the test says so; it records the requested delays."""

    def __init__(self) -> None:
        self.pauses: list[float] = []
        self.posted: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._then: Callable[[], None] = self.cancel

    def call_later(self, seconds: float, then: Callable[[], None]) -> Alarms:
        self.pauses.append(seconds)
        self._then = then
        return self

    def cancel(self) -> None: ...

    def ring(self) -> None:
        """And wait until what was begun is done."""
        self._then()
        self.posted.get(timeout=TIMEOUT_SECONDS)()

    def call_soon(self, then: Callable[[], None]) -> None:
        self.posted.put(then)

    def watch(self, fd: int, ready: Callable[[], None]) -> None: ...

    def unwatch(self, fd: int) -> None: ...


class ReportHarness:
    def __init__(self) -> None:
        self.alarms = Alarms()
        self.workers = WorkerPool(self.alarms)
        self.settler = StatusWriter(_slowly, self.alarms, self.workers, lambda _: None)
        plan = build_checked_plan((Task("one", origin=Origin("TODO.md", 1)),)).plan
        assert plan
        self._seq = 0
        self.happens(
            Submit(
                "s",
                "b",
                plan.without_texts(),
                Settings(write_back=WriteBack.CHECKOUT),
                sources=("todo:TODO.md",),
            )
        )

    def happens(self, event: Event) -> None:
        self._seq += 1
        self.settler.take(Record(self._seq, 0.0, event))
        self.settler.schedule()

    def starts(self, number: int) -> None:
        self.happens(AttemptStarted(Attempt("b", "one", Step.WRITE, number), "shell", "shell", 60.0, 60.0))


def _slowly(writer: StatusFileWriter, changes: Sequence[StatusChange]) -> Sequence[Problem]:  # noqa: ARG001 - as a Write has them
    time.sleep(SLOW)  # a large file, or a slow disk
    return ()


@pytest.fixture
def harness() -> Iterator[ReportHarness]:
    made = ReportHarness()
    yield made
    made.workers.close()


def test_a_slow_source_is_written_less_often(harness: ReportHarness) -> None:
    harness.starts(1)
    harness.alarms.ring()
    harness.starts(2)
    assert harness.alarms.pauses[0] == 0
    assert harness.alarms.pauses[1] >= REST_FACTOR * SLOW > PAUSE_SECONDS


def test_the_end_of_a_batch_is_written_without_a_pause(harness: ReportHarness) -> None:
    harness.starts(1)
    harness.alarms.ring()
    harness.starts(2)
    harness.happens(BatchEnded("b", BatchStatus.COMPLETED, "1 done"))
    assert harness.alarms.pauses[2] == 0, "somebody is waiting to read it"
