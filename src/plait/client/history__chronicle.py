"""The chronicle: what the state forgets and people ask for, of every batch, folded as records come.

It grows with attempts, gates and tasks, not with records; whoever asks for one task pays for that task.
"""

from __future__ import annotations

from dataclasses import field

from plait.client.history import GateHistory
from plait.client.history__clashes import ConflictHistory
from plait.client.history__past import AttemptHistory
from plait.client.timeline import BatchTimeline
from plait.core.decisions import RequestGranted, RequestRefused
from plait.core.events import Record
from plait.core.fast_dataclass import dataclass
from plait.core.requests import Request


@dataclass(frozen=True, slots=True)
class BatchHistory:
    """Of one batch: its attempts, its gates, its conflicts, its timeline."""

    attempts: AttemptHistory
    gates: GateHistory
    conflicts: ConflictHistory
    timeline: BatchTimeline

    @classmethod
    def make_empty(cls, batch: str) -> BatchHistory:
        return cls(AttemptHistory(batch), GateHistory(batch), ConflictHistory(batch), BatchTimeline(batch))

    def apply(self, record: Record) -> None:
        self.attempts.apply(record)
        self.gates.apply(record)
        self.conflicts.apply(record)
        self.timeline.apply(record)


@dataclass(slots=True)
class HistoryIndex:
    """It follows from the records alone, from the first one on."""

    _batches: dict[str, BatchHistory] = field(default_factory=dict)
    _unanswered: dict[str, str] = field(
        default_factory=dict
    )  # requests that are not answered, and their batches

    def get_batch(self, batch: str) -> BatchHistory:
        """Of a batch that nothing is told of, an empty one."""
        return self._batches.get(batch) or BatchHistory.make_empty(batch)

    def apply(self, record: Record) -> None:
        batch = self._find_batch_id(record)
        if batch is not None:
            if batch not in self._batches:
                self._batches[batch] = BatchHistory.make_empty(batch)
            self._batches[batch].apply(record)

    def _find_batch_id(self, record: Record) -> str | None:
        """An answer is about what its request is about."""
        event = record.event
        if isinstance(event, RequestGranted | RequestRefused):
            return self._unanswered.pop(event.request, None)
        attempt = getattr(event, "attempt", None)
        batch: str | None = getattr(event, "batch", None) if attempt is None else attempt.batch
        if batch is not None and isinstance(event, Request):
            self._unanswered[event.id] = batch
        return batch
