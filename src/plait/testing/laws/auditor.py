"""The Auditor: reads the records one by one and knows nothing else. The first broken law stops it."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection
from typing import NoReturn

from plait.core.events import Event, Record
from plait.core.status import TaskStatus
from plait.store.codec import kind_of
from plait.testing.laws.attempt_folds import restart_unmet
from plait.testing.laws.auditor__folds import FOLDS, MAY_UNSETTLE_NEEDS, TIMED_FOLDS
from plait.testing.laws.auditor__laws import LAWS
from plait.testing.laws.facts__book import CommitContents, Facts
from plait.testing.laws.idle_laws import check_nothing_due, check_wake_time
from plait.testing.laws.idle_laws__idle import check_no_starvation


class Auditor:
    """`contents` says which tasks' changes are in a commit; `expected` are the batches that must come and end."""

    def __init__(self, contents: CommitContents, expected: Collection[str] = ()) -> None:
        self.facts = Facts(contents)
        self.kinds: Counter[str] = Counter()
        self._expected = tuple(expected)
        self._last = 0

    def observe(self, record: Record) -> None:
        """Raise Violation if this record breaks a law."""
        event = record.event
        kind = type(event)
        self._remember(record)
        if record.seq != self._last + 1:
            raise self.facts.violation("order", f"record {record.seq} follows {self._last}")
        self._last = record.seq
        for law in LAWS.get(kind, ()):
            law(self.facts, record.at, event)
        if kind in FOLDS:
            FOLDS[kind](self.facts, event)
        elif kind in TIMED_FOLDS:
            TIMED_FOLDS[kind](self.facts, record.at, event)
        if kind in MAY_UNSETTLE_NEEDS:
            for batch in self.facts.batches.values():
                restart_unmet(self.facts, batch)
        self.kinds[kind_of(event)] += 1

    def check_idle(self, at: float, wake: float | None) -> None:
        """The core has decided all it wanted and will sleep until `wake`: raise if it sleeps too well."""
        check_nothing_due(self.facts, at)
        check_no_starvation(self.facts)
        check_wake_time(self.facts, at, wake)

    def fail_stuck(self, why: str) -> NoReturn:
        """The run is over, and not everything has ended."""
        left = {
            name: [page.spec.id for page in batch.tasks.values() if page.ended is None]
            for name, batch in self.facts.batches.items()
            if not batch.ended
        }
        raise self.facts.violation("stuck", f"{why}, and these have not ended: {left}")

    @property
    def is_finished(self) -> bool:
        batches = self.facts.batches
        return all(name in batches for name in self._expected) and all(
            batch.ended and batch.publishing is None for batch in batches.values()
        )

    def end_statuses(self) -> dict[tuple[str, str], TaskStatus | None]:
        """How every task ended, for comparing one run with another."""
        batches = self.facts.batches.values()
        return {(batch.id, name): page.status for batch in batches for name, page in batch.tasks.items()}

    def _remember(self, record: Record) -> None:
        for story in self._find_logs(record.event):
            story.append(record)

    def _find_logs(self, event: Event) -> list[deque[Record]]:
        """Whose story a record belongs to: the task's, else the batch's, and the end of everybody's."""
        about = getattr(event, "attempt", event)
        batch = self.facts.batches.get(getattr(about, "batch", ""))
        if batch is None:
            return [self.facts.recent_records]
        page = batch.tasks.get(getattr(about, "task", None) or "")
        return [batch.recent_records if page is None else page.recent_records]
