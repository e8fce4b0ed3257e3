"""Settling: the sources are told what the journal says of their tasks.

It is done after every turn that changed a status, and once when an engine starts: what a crash kept from a file is owed
still, since the journal has no SourcesWritten for it. Telling twice is telling once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from plait.core.errors import PlaitError
from plait.core.fast_dataclass import dataclass
from plait.core.plan import Problem, Severity
from plait.core.reports import SourcesWritten
from plait.core.task import Origin
from plait.sources.source_model import StatusChange, StatusFileWriter
from plait.sources.writeback_queue import SourceUpdate, WritebackQueue

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
    from plait.sources.formats import load_format  # noqa: PLC0415 - formats are many, and not every engine has anything to tell

    writers = load_format(bill.format).writers(bill.path, bill.changes)
    return [problem for writer in writers for problem in write(writer, bill.changes)]
