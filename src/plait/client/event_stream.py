"""What follows from each kind of record for those who listen: a kind is told, or it is named as one that is not.

The feed: records in, events out. A record costs as much as it changes, however large its batch is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, get_args

from plait.client import batch_events, task_events
from plait.client.record_context import (
    RecordContext,
    StatusTracker,
    capture_state,
    find_live_attempt,
    find_subject,
)
from plait.client.stream_event import StreamEvent
from plait.core import decisions, reports, requests
from plait.core.events import Record
from plait.core.reducers.dispatch import evolve
from plait.core.reports import AttemptExited, AttemptLost
from plait.core.state import AttemptState, State

# Any: each teller takes its own union; the table below gives it nothing else.
RecordMapper = Callable[[RecordContext, Any], Iterator[StreamEvent]]


def _map_to_nothing(_moment: RecordContext, _fact: requests.Request | reports.SourcesWritten) -> Iterator[StreamEvent]:
    """A request is told when it is granted; that sources were written is between plait and them."""
    return iter(())


MAPPERS_BY_UNION: Iterable[tuple[object, RecordMapper]] = (
    (requests.Request, _map_to_nothing),
    (decisions.RequestDecision, batch_events.map_request_answer),
    (decisions.AttemptDecision, task_events.map_attempt_decision),
    (decisions.TaskDecision, task_events.map_task_decision),
    (decisions.BranchDecision, batch_events.map_branch_decision),
    (decisions.LimitDecision, batch_events.map_limit_decision),
    (decisions.BatchDecision, batch_events.map_batch_decision),
    (reports.AttemptProgress, task_events.map_attempt_sign),
    (reports.AttemptEnd, task_events.map_attempt_exit),
    (reports.BranchReport, batch_events.map_branch_report),
    (reports.ConflictPrediction, task_events.map_conflict_prediction),
    (reports.MachineReport, batch_events.map_machine_report),
)


MAPPERS = {fact: teller for union, teller in MAPPERS_BY_UNION for fact in get_args(union)}


MAPPERS[reports.SourcesWritten] = _map_to_nothing


def map_record(context: RecordContext) -> list[StreamEvent]:
    fact = context.record.event
    return list(MAPPERS[type(fact)](context, fact))


class EventStream:
    """`state` is the fold of what was taken: the feed alone folds into it, everybody may read it."""

    def __init__(self, state: State | None = None) -> None:
        self.state = State() if state is None else state
        self._agent_seconds: dict[str, float] = {}
        self._trackers: dict[str, StatusTracker] = {}

    def apply(self, record: Record) -> list[StreamEvent]:
        """Fold it, and tell what follows; everything that follows from one record carries its seq."""
        name, task_name = about = find_subject(self.state, record.event)
        known = self.state.batches.get(name or "")
        if known is not None and known.id not in self._trackers:
            self._trackers[known.id] = StatusTracker.from_state(self.state, known)
        seen = capture_state(self.state, record.event, about)
        self._apply_to_state(record, seen.attempt)
        batch = self.state.batches.get(name or "")
        task = batch.find_task(task_name or "") if batch is not None else None
        if batch is not None and batch.id not in self._trackers:
            self._trackers[batch.id] = StatusTracker(batch)
        told = map_record(RecordContext(self.state, record, seen, batch, task, self._trackers.get(name or "")))
        if batch is not None and batch.ended is not None:
            # What is told of a batch that is taken up again must not depend on who was listening before.
            self._trackers.pop(batch.id, None)
        return told

    def replay(self, record: Record) -> None:
        """History that nobody wants told."""
        self._trackers.clear()
        self._apply_to_state(record, find_live_attempt(self.state, record.event))

    def sum_agent_seconds(self, batch: str, now: float) -> float:
        """Seconds that all attempts of a batch have taken, one after another."""
        known = self.state.batches.get(batch)
        alive = known.alive.values() if known is not None else ()
        return self._agent_seconds.get(batch, 0.0) + sum(max(0.0, now - attempt.started_at) for attempt in alive)

    def _apply_to_state(self, record: Record, attempt: AttemptState | None) -> None:
        """`attempt` is the one that it is about: it is alive until this is folded."""
        evolve(self.state, record)
        if attempt is not None and isinstance(record.event, AttemptExited | AttemptLost):
            took = max(0.0, record.at - attempt.started_at)
            name = attempt.name.batch
            self._agent_seconds[name] = self._agent_seconds.get(name, 0.0) + took
