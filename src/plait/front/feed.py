"""The feed: records in, events out. A record costs as much as it changes, however large its batch is."""

from __future__ import annotations

from plait.core.events import Record
from plait.core.evolve import evolve
from plait.core.reports import AttemptExited, AttemptLost
from plait.core.state import AttemptState, State
from plait.front.book import Book
from plait.front.event import Event
from plait.front.moment import Moment, alive, before, subject
from plait.front.telling import tell


class Feed:
    """`state` is the fold of what was taken: the feed alone folds into it, everybody may read it."""

    def __init__(self, state: State | None = None) -> None:
        self.state = State() if state is None else state
        self._worked: dict[str, float] = {}
        self._books: dict[str, Book] = {}

    def take(self, record: Record) -> list[Event]:
        """Fold it, and tell what follows; everything that follows from one record carries its seq."""
        name, task_name = about = subject(self.state, record.event)
        known = self.state.batches.get(name or "")
        if known is not None and known.id not in self._books:
            self._books[known.id] = Book.of(self.state, known)
        seen = before(self.state, record.event, about)
        self._fold(record, seen.attempt)
        batch = self.state.batches.get(name or "")
        task = batch.task(task_name or "") if batch is not None else None
        if batch is not None and batch.id not in self._books:
            self._books[batch.id] = Book(batch)
        told = tell(Moment(self.state, record, seen, batch, task, self._books.get(name or "")))
        if batch is not None and batch.ended is not None:
            # What is told of a batch that is taken up again must not depend on who was listening before.
            self._books.pop(batch.id, None)
        return told

    def fold(self, record: Record) -> None:
        """History that nobody wants told."""
        self._books.clear()
        self._fold(record, alive(self.state, record.event))

    def worked(self, batch: str, now: float) -> float:
        """Seconds that all attempts of a batch have taken, one after another."""
        known = self.state.batches.get(batch)
        alive = known.alive.values() if known is not None else ()
        return self._worked.get(batch, 0.0) + sum(max(0.0, now - attempt.started_at) for attempt in alive)

    def _fold(self, record: Record, attempt: AttemptState | None) -> None:
        """`attempt` is the one that it is about: it is alive until this is folded."""
        evolve(self.state, record)
        if attempt is not None and isinstance(record.event, AttemptExited | AttemptLost):
            took = max(0.0, record.at - attempt.started_at)
            name = attempt.name.batch
            self._worked[name] = self._worked.get(name, 0.0) + took
