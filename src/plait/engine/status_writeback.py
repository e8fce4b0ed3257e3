"""The settler: a thread of its own that tells the sources, so that a slow file system never holds up an attempt.

What it has not told yet is owed in the journal, so it may gather what happens meanwhile and tell it at once.

Settling: the sources are told what the journal says of their tasks.

It is done after every turn that changed a status, and once when an engine starts: what a crash kept from a file is owed
still, since the journal has no SourcesWritten for it. Telling twice is telling once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from threading import Thread

from plait.core.decisions import AttemptStarted, BatchEnded, TaskEnded, TaskInterrupted
from plait.core.errors import PlaitError, WorldError
from plait.core.events import Record
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.reports import SourcesWritten
from plait.core.task import Origin
from plait.git.location import RepoLocation
from plait.runtime.executor import Reactor, Timer
from plait.sources.status_changes import StatusChange, StatusFileWriter
from plait.sources.writeback_queue import SourceUpdate, WritebackQueue
from plait.store.project_files import LOCKS_FOLDER, load_batch_inputs
from plait.system import log

_STATUS_EVENTS = (AttemptStarted, TaskEnded, TaskInterrupted)


PAUSE_SECONDS = 0.5  # seconds between two rounds: many ends are told together


REST_FACTOR = 9  # … or so many times as long as the last one took: a large file is read whole each time


MAX_PAUSE_SECONDS = 10.0


RETRY_SECONDS = 30.0  # until a source that could not be written is tried again


class StatusWriter:
    """`told` is called in the loop, for the journal, with what was written."""

    def __init__(self, write: WriteStatuses, reactor: Reactor, on_written: Callable[[SourcesWritten], None]) -> None:
        self._write = write
        self._reactor = reactor
        self._on_written = on_written
        self._queue = WritebackQueue()
        self._orders: SimpleQueue[list[SourceUpdate] | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._busy = False
        self._pending_count = 0  # bills that are being paid
        self._last_round_seconds = 0.0  # seconds, the last round
        self._timer: Timer | None = None
        self._dirty = False  # something may be owed that was not looked at yet
        self._expedited = False  # a batch has ended: somebody is waiting to read it
        self._stuck = False
        self._logged: frozenset[str] = frozenset()

    def take(self, record: Record) -> None:
        self._queue.apply(record)
        self._dirty = self._dirty or isinstance(record.event, _STATUS_EVENTS)
        if isinstance(record.event, BatchEnded):
            self._expedite()

    @property
    def is_idle(self) -> bool:
        """Nothing is under way, and nothing is owed that could be told now."""
        return not self._busy and (self._stuck or (self._timer is None and not self._dirty))

    def schedule(self) -> None:
        """Something may be owed: tell it, soon."""
        if self._dirty and not self._busy and self._timer is None:
            pause = max(PAUSE_SECONDS, min(MAX_PAUSE_SECONDS, REST_FACTOR * self._last_round_seconds))
            at_once = self._expedited or self._thread is None
            self._timer = self._reactor.call_later(0.0 if at_once else pause, self._start_round)

    def flush(self) -> None:
        """Whoever leaves wants it told now."""
        if self._timer is not None and not self._stuck:
            self._timer.cancel()
            self._start_round()

    def _expedite(self) -> None:
        """Somebody has waited for this: nobody rests before the last statuses are told."""
        self._expedited = True
        if self._timer is not None and not self._stuck:
            self._timer.cancel()
            self._timer = None

    def close(self) -> None:
        if self._thread is not None:
            self._orders.put(None)
            self._thread.join()
            self._thread = None

    def _start_round(self) -> None:
        self._timer = None
        self._stuck = self._dirty = False
        self._expedited = False
        owed = list_pending(self._queue)
        if not owed or self._busy:
            return
        self._busy, self._pending_count = True, len(owed)
        if self._thread is None:
            self._thread = Thread(target=self._run, name="settler", daemon=True)
            self._thread.start()
        self._orders.put(owed)

    def _run(self) -> None:
        while (owed := self._orders.get()) is not None:
            began = time.monotonic()
            try:
                settled = write_pending(owed, self._write)
            except Exception as error:  # noqa: BLE001 - it must not die silently: nothing would be told any more
                log.write_traceback(error)
                settled = WriteBackResult(problems=(Problem(Severity.ERROR, f"sources are not told: {error}"),))
            self._reactor.call_soon(partial(self._finish_round, settled, time.monotonic() - began))

    def _finish_round(self, settled: WriteBackResult, took: float) -> None:
        self._busy, self._last_round_seconds = False, took
        said = frozenset(problem.message for problem in settled.problems)
        for problem in settled.problems:
            if problem.message not in self._logged:
                log.write_line(f"{problem.severity.value}: {problem.at or ''} {problem.message} {problem.hint}")
        self._logged = said
        for report in settled.reports:
            self._on_written(report)
        if len(settled.reports) < self._pending_count and not self._dirty:
            self._stuck = True
            self._timer = self._reactor.call_later(RETRY_SECONDS, self._start_round)
        else:
            self.schedule()


WriteStatuses = Callable[[StatusFileWriter, Sequence[StatusChange]], Sequence[Problem]]


@dataclass(frozen=True, slots=True)
class WriteBackResult:
    """What was told, for the journal, and what went wrong. A source that could not be written stays owed."""

    reports: tuple[SourcesWritten, ...] = ()
    problems: tuple[Problem, ...] = ()


def write_back_all(ledger: WritebackQueue, write: WriteStatuses) -> WriteBackResult:
    return write_pending(list_pending(ledger), write)


def list_pending(ledger: WritebackQueue) -> list[SourceUpdate]:
    """What is owed now; a bill does not change any more, so that another thread may pay it."""
    return [bill for account in ledger.list_open_batches() for bill in account.list_updates()]


def write_pending(owed: Iterable[SourceUpdate], write: WriteStatuses) -> WriteBackResult:
    """One source that can't be written costs itself: the others are told."""
    reports: list[SourcesWritten] = []
    problems: list[Problem] = []
    for bill in owed:
        try:
            problems += _write_one(bill, write)
        except PlaitError as error:
            message = f"the statuses of batch {bill.batch} are not written yet: {error.message}"
            problems.append(Problem(Severity.WARNING, message, Origin(bill.path), error.hint))
        else:
            reports.append(SourcesWritten(bill.batch, bill.tasks, bill.upto))
    return WriteBackResult(tuple(reports), tuple(problems))


def _write_one(bill: SourceUpdate, write: WriteStatuses) -> list[Problem]:
    from plait.sources.formats import load_format  # formats are many, and not every engine has anything to tell

    writers = load_format(bill.format).writers(bill.path, bill.changes)
    return [problem for writer in writers for problem in write(writer, bill.changes)]


def open_source_writer(place: RepoLocation) -> WriteStatuses:
    """How statuses reach the files of this checkout."""
    from plait.system.status_files import write_statuses  # the fronts that only read go without

    def write(writer: StatusFileWriter, changes: Sequence[StatusChange]) -> Sequence[Problem]:
        top = _find_checkout(place, changes[0].batch) if changes else place.top
        if writer.creates and not (top / writer.path).parent.is_dir():
            return ()
        return write_statuses(top, writer, changes, locks=place.state / LOCKS_FOLDER).problems

    return write


def _find_checkout(place: RepoLocation, batch: str) -> Path:
    """The checkout that the batch was submitted from: a repository may have several, and one engine for all."""
    try:
        return Path(load_batch_inputs(place, batch).top)
    except WorldError:
        return place.top
