"""Writing task statuses back to their sources, in a worker thread: a slow file system never holds up an attempt.

It is done after every tick that changed a status, and when an engine starts. Until the journal has a SourcesWritten for
it, a status is pending; so several changes can be written together, and a crash loses none. Writing twice is harmless.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from plait.core.decisions import AttemptStarted, BatchEnded, TaskEnded, TaskInterrupted
from plait.core.errors import PlaitError, WorldError
from plait.core.events import Record
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.reports import AttemptPhase, SourceReport, SourcesUnwritten, SourcesWritten
from plait.core.task import Origin
from plait.git.location import RepoLocation
from plait.runtime.executor import Reactor, Timer
from plait.runtime.worker_pool import WorkerPool
from plait.sources.status_changes import StatusChange, StatusFileWriter
from plait.sources.writeback_queue import SourceUpdate, WritebackQueue
from plait.store.file_access import FileAccess, list_allowed_paths
from plait.store.project_files import LOCKS_FOLDER, load_batch_inputs
from plait.system import log

PAUSE_SECONDS = 0.5  # between two rounds, so that several changes are written together
REST_FACTOR = 9  # or this many times as long as the last round took: a large file is read whole each time
MAX_PAUSE_SECONDS = 10.0
RETRY_SECONDS = 30.0  # until a source that could not be written is tried again
_STATUS_EVENTS = (AttemptStarted, AttemptPhase, TaskEnded, TaskInterrupted)

WriteStatuses = Callable[[StatusFileWriter, Sequence[StatusChange]], Sequence[Problem]]


@dataclass(frozen=True, slots=True)
class WriteBackResult:
    """What was written and what was not, for the journal, and what went wrong. A source that could not be written stays pending."""

    reports: tuple[SourceReport, ...] = ()
    problems: tuple[Problem, ...] = ()
    seconds: float = 0.0


class StatusWriter:
    """Writes pending statuses. `on_report`, called in the loop, gets what was written and what could not be."""

    def __init__(
        self,
        write: WriteStatuses,
        reactor: Reactor,
        workers: WorkerPool,
        on_report: Callable[[SourceReport], None],
    ) -> None:
        self._write = write
        self._reactor = reactor
        self._workers = workers
        self._on_report = on_report
        self._queue = WritebackQueue()
        self._is_first = True
        self._busy = False
        self._pending_count = 0  # in the round that runs
        self._last_round_seconds = 0.0
        self._timer: Timer | None = None
        self._dirty = False  # statuses may have changed since the last round
        self._expedited = False  # a batch has ended, and a front end waits for its statuses
        self._stuck = False
        self._retried = False  # since the last change, because the engine is about to exit
        self._reported: dict[
            tuple[str, str], int
        ] = {}  # by batch and source: up to which record it is known to be unwritten
        self._logged: frozenset[str] = frozenset()

    def take(self, record: Record) -> None:
        self._queue.apply(record)
        if isinstance(record.event, _STATUS_EVENTS):
            self._dirty, self._retried = True, False
        elif isinstance(record.event, SourcesUnwritten):
            self._reported[record.event.batch, record.event.source] = record.event.upto
        elif isinstance(record.event, BatchEnded):
            self._expedited = True
            if self._timer is not None:
                self._cancel_timer()
                self._dirty = True

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being written, and nothing is pending that could be written now."""
        return not self._busy and (self._stuck or (self._timer is None and not self._dirty))

    def schedule(self) -> None:
        """Write soon what is pending, if anything is."""
        if self._dirty and self._stuck:
            self._cancel_timer()  # what failed is tried again with what is new
        if self._dirty and not self._busy and self._timer is None:
            pause = max(PAUSE_SECONDS, min(MAX_PAUSE_SECONDS, REST_FACTOR * self._last_round_seconds))
            at_once = self._expedited or self._is_first
            self._timer = self._reactor.call_later(0.0 if at_once else pause, self._start_round)

    def flush(self) -> None:
        """Write now what is scheduled."""
        if self._timer is not None and not self._stuck:
            self._timer.cancel()
            self._start_round()

    def retry_once(self) -> bool:
        """Try what failed once more, before the engine exits; False if there is nothing to try, or it has been tried."""
        if not self._stuck or self._retried or self._timer is None:
            return False
        self._retried = True
        self._timer.cancel()
        self._start_round()
        return True

    def _cancel_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._stuck = None, False

    def _start_round(self) -> None:
        self._timer = None
        self._stuck = self._dirty = self._expedited = False
        pending = list_pending(self._queue)
        if not pending or self._busy:
            return
        self._busy, self._pending_count, self._is_first = True, len(pending), False
        self._workers.submit(
            "writeback", lambda: write_pending(pending, self._write), self._finish_round, self._on_unexpected_error
        )

    def _on_unexpected_error(self, error: Exception) -> None:
        log.write_traceback(error)
        problem = Problem(Severity.ERROR, f"could not write task statuses: {error}")
        self._finish_round(WriteBackResult(problems=(problem,)))

    def _finish_round(self, result: WriteBackResult) -> None:
        self._busy, self._last_round_seconds = False, result.seconds
        for problem in result.problems:
            if problem.message not in self._logged:
                log.write_line(f"{problem.severity.value}: {problem.at or ''} {problem.message} {problem.hint}")
        self._logged = frozenset(problem.message for problem in result.problems)
        for report in result.reports:
            is_known = (
                isinstance(report, SourcesUnwritten) and report.retried and report.upto <= self._get_reported(report)
            )
            if not is_known:
                self._on_report(report)
        written = sum(isinstance(report, SourcesWritten) for report in result.reports)
        if written < self._pending_count and not self._dirty:
            self._stuck = True
            self._timer = self._reactor.call_later(RETRY_SECONDS, self._start_round)
        else:
            self.schedule()

    def _get_reported(self, report: SourcesUnwritten) -> int:
        return self._reported.get((report.batch, report.source), 0)


def list_pending(queue: WritebackQueue) -> list[SourceUpdate]:
    """List what is to be written now. The updates don't change any more, so another thread may write them."""
    return [update for batch in queue.list_open_batches() for update in batch.list_updates()]


def write_pending(updates: Iterable[SourceUpdate], write: WriteStatuses) -> WriteBackResult:
    """Write the updates; a source that can't be written doesn't keep the others from being written."""
    began = time.monotonic()
    reports: list[SourceReport] = []
    problems: list[Problem] = []
    for update in updates:
        try:
            found = [problem for writer in load_writers(update) for problem in write(writer, update.changes)]
        except PlaitError as error:
            message = f"the statuses of batch {update.batch} are not written yet: {error.message}"
            problems.append(Problem(Severity.WARNING, message, Origin(update.path), error.hint))
            unwritten = SourcesUnwritten(
                update.batch, update.path, update.tasks, update.upto, error.message, error.hint
            )
            reports.append(unwritten)
        else:
            problems += found
            reports.append(SourcesWritten(update.batch, update.tasks, update.upto))
            lost = [problem for problem in found if problem.severity is not Severity.INFO]
            if lost:
                why = "; ".join(dict.fromkeys(problem.message for problem in lost))
                unwritten = SourcesUnwritten(
                    update.batch, update.path, update.tasks, update.upto, why, lost[0].hint, retried=False
                )
                reports.append(unwritten)
    return WriteBackResult(tuple(reports), tuple(problems), time.monotonic() - began)


def load_writers(update: SourceUpdate) -> Iterable[StatusFileWriter]:
    from plait.sources.formats import load_format  # not every engine writes statuses

    return load_format(update.format).writers(update.path, update.changes)


def open_source_writer(location: RepoLocation) -> WriteStatuses:
    """Make a function that writes to the files of the checkout that a batch was submitted from."""
    from plait.system.status_files import write_statuses

    def write(writer: StatusFileWriter, changes: Sequence[StatusChange]) -> Sequence[Problem]:
        top = _find_checkout(location, changes[0].batch) if changes else location.top
        if _leads_outside(location, top, writer.path):
            return (Problem(Severity.WARNING, _OUTSIDE_MESSAGE, Origin(writer.path), "Replace the link by the file."),)
        if writer.list_commands is not None:
            from plait.system import beads_database  # few projects have one

            return beads_database.write_statuses(top / writer.path, writer, changes)
        if writer.creates and not (top / writer.path).parent.is_dir():
            return ()
        return write_statuses(top, writer, changes, locks=location.state / LOCKS_FOLDER).problems

    return write


_OUTSIDE_MESSAGE = "this leads out of the repository: no status was written"


def _leads_outside(location: RepoLocation, top: Path, path: str) -> bool:
    """Whether a link in the checkout leads to a file that the user hasn't allowed. A source outside has an absolute
    path, because the user named it.
    """
    checkout = replace(location, top=top)
    return not Path(path).is_absolute() and not FileAccess(checkout, list_allowed_paths(location)).allows(top / path)


def _find_checkout(location: RepoLocation, batch: str) -> Path:
    """Return the checkout that a batch was submitted from: a repository may have several, and one engine for all."""
    try:
        return Path(load_batch_inputs(location, batch).top)
    except WorldError:
        return location.top
