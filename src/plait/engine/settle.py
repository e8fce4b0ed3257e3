"""Settling: the sources are told what the journal says of their tasks.

It is done after every turn that changed a status, and once when an engine starts: what a crash kept from a file is owed
still, since the journal has no SourcesWritten for it. Telling twice is telling once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from plait.core.errors import PlaitError
from plait.core.frozen import dataclass
from plait.core.plan import Problem, Severity
from plait.core.reports import SourcesWritten
from plait.core.task import Origin
from plait.sources.ledger import Bill, Ledger
from plait.sources.model import Change, Writer

Write = Callable[[Writer, Sequence[Change]], Sequence[Problem]]


@dataclass(frozen=True, slots=True)
class Settled:
    """What was told, for the journal, and what went wrong. A source that could not be written stays owed."""

    reports: tuple[SourcesWritten, ...] = ()
    problems: tuple[Problem, ...] = ()


def settle(ledger: Ledger, write: Write) -> Settled:
    return pay(bills(ledger), write)


def bills(ledger: Ledger) -> list[Bill]:
    """What is owed now; a bill does not change any more, so that another thread may pay it."""
    return [bill for account in ledger.open() for bill in account.bills()]


def pay(owed: Iterable[Bill], write: Write) -> Settled:
    """One source that can't be written costs itself: the others are told."""
    reports: list[SourcesWritten] = []
    problems: list[Problem] = []
    for bill in owed:
        try:
            problems += _pay(bill, write)
        except PlaitError as error:
            message = f"the statuses of batch {bill.batch} are not written yet: {error.message}"
            problems.append(Problem(Severity.WARNING, message, Origin(bill.path), error.hint))
        else:
            reports.append(SourcesWritten(bill.batch, bill.tasks, bill.upto))
    return Settled(tuple(reports), tuple(problems))


def _pay(bill: Bill, write: Write) -> list[Problem]:
    from plait.sources.formats import load  # noqa: PLC0415 - formats are many, and not every engine has anything to tell

    writers = load(bill.format).writers(bill.path, bill.changes)
    return [problem for writer in writers for problem in write(writer, bill.changes)]
