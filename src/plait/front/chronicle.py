"""The chronicle: what the state forgets and people ask for, of every batch, folded as records come.

It grows with attempts, gates and tasks, not with records; whoever asks for one task pays for that task.
"""

from __future__ import annotations

from dataclasses import field

from plait.core.decisions import RequestGranted, RequestRefused
from plait.core.events import Record
from plait.core.frozen import dataclass
from plait.core.requests import Request
from plait.front.clashes import Clashes
from plait.front.gates import Gates
from plait.front.past import Past
from plait.front.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Chapter:
    """Of one batch: its attempts, its gates, its conflicts, its timeline."""

    past: Past
    gates: Gates
    clashes: Clashes
    line: Timeline

    @classmethod
    def begin(cls, batch: str) -> Chapter:
        return cls(Past(batch), Gates(batch), Clashes(batch), Timeline(batch))

    def take(self, record: Record) -> None:
        self.past.take(record)
        self.gates.take(record)
        self.clashes.take(record)
        self.line.take(record)


@dataclass(slots=True)
class Chronicle:
    """It follows from the records alone, from the first one on."""

    _chapters: dict[str, Chapter] = field(default_factory=dict)
    _asked: dict[str, str] = field(default_factory=dict)  # requests that are not answered, and their batches

    def of(self, batch: str) -> Chapter:
        """Of a batch that nothing is told of, an empty one."""
        return self._chapters.get(batch) or Chapter.begin(batch)

    def take(self, record: Record) -> None:
        batch = self._batch(record)
        if batch is not None:
            if batch not in self._chapters:
                self._chapters[batch] = Chapter.begin(batch)
            self._chapters[batch].take(record)

    def _batch(self, record: Record) -> str | None:
        """An answer is about what its request is about."""
        event = record.event
        if isinstance(event, RequestGranted | RequestRefused):
            return self._asked.pop(event.request, None)
        attempt = getattr(event, "attempt", None)
        batch: str | None = getattr(event, "batch", None) if attempt is None else attempt.batch
        if batch is not None and isinstance(event, Request):
            self._asked[event.id] = batch
        return batch
