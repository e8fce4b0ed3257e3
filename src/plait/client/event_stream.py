"""Turn journal records into the events that front ends show. The cost grows with what a record changes."""

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

# Any: each mapper takes its own union, and the table below gives it nothing else.
RecordMapper = Callable[[RecordContext, Any], Iterator[StreamEvent]]

MAPPERS_BY_UNION: Iterable[tuple[object, RecordMapper]] = (
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


MAPPERS = {event: mapper for union, mapper in MAPPERS_BY_UNION for event in get_args(union)}

# Without events of their own: a request has some when it is granted.
SILENT_EVENTS = frozenset({*get_args(requests.Request), reports.SourcesWritten})


def map_record(context: RecordContext) -> list[StreamEvent]:
    event = context.record.event
    return [] if type(event) in SILENT_EVENTS else list(MAPPERS[type(event)](context, event))


class EventStream:
    """Folds records into `state`, which others only read."""

    def __init__(self, state: State | None = None) -> None:
        self.state = State() if state is None else state
        self._agent_seconds: dict[str, float] = {}
        self._trackers: dict[str, StatusTracker] = {}

    def apply(self, record: Record) -> list[StreamEvent]:
        """Fold a record and return its events, which all have its seq."""
        name, task_name = subject = find_subject(self.state, record.event)
        known = self.state.batches.get(name or "")
        if known is not None and known.id not in self._trackers:
            self._trackers[known.id] = StatusTracker.from_state(self.state, known)
        before = capture_state(self.state, record.event, subject)
        self._apply_to_state(record, before.attempt)
        batch = self.state.batches.get(name or "")
        task = batch.find_task(task_name or "") if batch is not None else None
        if batch is not None and batch.id not in self._trackers:
            self._trackers[batch.id] = StatusTracker(batch)
        events = map_record(RecordContext(self.state, record, before, batch, task, self._trackers.get(name or "")))
        if batch is not None and batch.ended is not None:
            # The events of a reopened batch must not depend on who listened before.
            self._trackers.pop(batch.id, None)
        return events

    def replay(self, record: Record) -> None:
        """Fold a record without making events."""
        self._trackers.clear()
        self._apply_to_state(record, find_live_attempt(self.state, record.event))

    def sum_agent_seconds(self, batch: str, now: float) -> float:
        """The total running time of a batch's attempts."""
        known = self.state.batches.get(batch)
        alive = known.alive.values() if known is not None else ()
        return self._agent_seconds.get(batch, 0.0) + sum(max(0.0, now - attempt.started_at) for attempt in alive)

    def _apply_to_state(self, record: Record, attempt: AttemptState | None) -> None:
        """`attempt` is the record's, which is alive until it is folded."""
        evolve(self.state, record)
        if attempt is not None and isinstance(record.event, AttemptExited | AttemptLost):
            took = max(0.0, record.at - attempt.started_at)
            name = attempt.name.batch
            self._agent_seconds[name] = self._agent_seconds.get(name, 0.0) + took
