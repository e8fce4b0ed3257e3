from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue

import pytest

from plait.core.decisions import AttemptStarted, BatchEnded
from plait.core.errors import WorldError
from plait.core.events import Event, Record
from plait.core.graph import build_checked_plan
from plait.core.plan import Problem
from plait.core.reports import SourceReport, SourcesUnwritten, SourcesWritten
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
        self.finish()

    def finish(self) -> None:
        self.posted.get(timeout=TIMEOUT_SECONDS)()

    def call_soon(self, then: Callable[[], None]) -> None:
        self.posted.put(then)

    def watch(self, fd: int, ready: Callable[[], None]) -> None: ...

    def unwatch(self, fd: int) -> None: ...


class ReportHarness:
    def __init__(self) -> None:
        self.alarms = Alarms()
        self.workers = WorkerPool(self.alarms)
        self.reports: list[SourceReport] = []
        self.broken = False
        self.settler = StatusWriter(self.write, self.alarms, self.workers, self.reports.append)
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

    def write(self, writer: StatusFileWriter, changes: Sequence[StatusChange]) -> Sequence[Problem]:
        if self.broken:
            raise WorldError("it is a folder now", hint="put the file back")
        return _slowly(writer, changes)

    def take_reports(self) -> list[SourceReport]:
        """Those of the last round, which come back as records."""
        reports, self.reports[:] = list(self.reports), []
        for report in reports:
            self.happens(report)
        return reports

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


def test_a_source_that_cannot_be_written_is_reported_once_for_each_status(harness: ReportHarness) -> None:
    harness.broken = True
    harness.starts(1)
    harness.alarms.ring()
    assert harness.take_reports() == [
        SourcesUnwritten("b", "TODO.md", ("one",), 2, "it is a folder now", "put the file back")
    ]
    harness.alarms.ring()
    assert harness.take_reports() == []
    harness.starts(2)
    harness.alarms.ring()
    assert len(harness.take_reports()) == 1


def test_the_end_of_a_batch_tries_a_source_again_that_could_not_be_written(harness: ReportHarness) -> None:
    harness.broken = True
    harness.starts(1)
    harness.alarms.ring()
    harness.take_reports()
    harness.broken = False
    harness.happens(BatchEnded("b", BatchStatus.COMPLETED, "1 done"))
    assert harness.alarms.pauses[-1] == 0
    assert not harness.settler.is_idle
    harness.alarms.ring()
    assert [type(report) for report in harness.take_reports()] == [SourcesWritten]


def test_a_source_that_could_not_be_written_is_tried_once_more_before_the_engine_exits(harness: ReportHarness) -> None:
    harness.broken = True
    harness.starts(1)
    harness.alarms.ring()
    harness.take_reports()
    assert harness.settler.is_idle
    assert harness.settler.retry_once()
    harness.alarms.finish()
    assert harness.settler.is_idle
    assert not harness.settler.retry_once(), "or the engine would never exit"
    harness.starts(2)
    harness.alarms.ring()
    harness.take_reports()
    harness.broken = False
    assert harness.settler.retry_once()
    harness.alarms.finish()
    assert [type(report) for report in harness.take_reports()] == [SourcesWritten]
