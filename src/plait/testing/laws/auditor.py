"""The Auditor: reads the records one by one and knows nothing else. The first broken law stops it."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection
from typing import NoReturn

from plait.core.events import Event, Record
from plait.core.status import TaskStatus
from plait.store.codec import kind_of
from plait.testing.laws.attempt_folds import step_back
from plait.testing.laws.auditor__folds import FOLDS, TIMED_FOLDS, UNSETTLING
from plait.testing.laws.auditor__laws import LAWS
from plait.testing.laws.facts__book import Book, Contents
from plait.testing.laws.idle_laws import alarms, no_debts
from plait.testing.laws.idle_laws__idle import nobody_starves


class Auditor:
    """`contents` says which tasks' changes are in a commit; `expected` are the batches that must come and end."""

    def __init__(self, contents: Contents, expected: Collection[str] = ()) -> None:
        self.book = Book(contents)
        self.kinds: Counter[str] = Counter()
        self._expected = tuple(expected)
        self._last = 0

    def observe(self, record: Record) -> None:
        """Raise Violation if this record breaks a law."""
        event = record.event
        kind = type(event)
        self._tell(record)
        if record.seq != self._last + 1:
            raise self.book.violation("order", f"record {record.seq} follows {self._last}")
        self._last = record.seq
        for law in LAWS.get(kind, ()):
            law(self.book, record.at, event)
        if kind in FOLDS:
            FOLDS[kind](self.book, event)
        elif kind in TIMED_FOLDS:
            TIMED_FOLDS[kind](self.book, record.at, event)
        if kind in UNSETTLING:
            for batch in self.book.batches.values():
                step_back(self.book, batch)
        self.kinds[kind_of(event)] += 1

    def quiet(self, at: float, wake: float | None) -> None:
        """The core has decided all it wanted and will sleep until `wake`: raise if it sleeps too well."""
        no_debts(self.book, at)
        nobody_starves(self.book)
        alarms(self.book, at, wake)

    def stuck(self, why: str) -> NoReturn:
        """The run is over, and not everything has ended."""
        left = {
            name: [page.spec.id for page in batch.tasks.values() if page.ended is None]
            for name, batch in self.book.batches.items()
            if not batch.ended
        }
        raise self.book.violation("stuck", f"{why}, and these have not ended: {left}")

    @property
    def finished(self) -> bool:
        batches = self.book.batches
        return all(name in batches for name in self._expected) and all(
            batch.ended and batch.publishing is None for batch in batches.values()
        )

    def ends(self) -> dict[tuple[str, str], TaskStatus | None]:
        """How every task ended, for comparing one run with another."""
        batches = self.book.batches.values()
        return {(batch.id, name): page.status for batch in batches for name, page in batch.tasks.items()}

    def _tell(self, record: Record) -> None:
        for story in self._stories(record.event):
            story.append(record)

    def _stories(self, event: Event) -> list[deque[Record]]:
        """Whose story a record belongs to: the task's, else the batch's, and the end of everybody's."""
        about = getattr(event, "attempt", event)
        batch = self.book.batches.get(getattr(about, "batch", ""))
        if batch is None:
            return [self.book.story]
        page = batch.tasks.get(getattr(about, "task", None) or "")
        return [batch.story if page is None else page.story]
