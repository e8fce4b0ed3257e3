"""What follows from each kind of record for those who listen: a kind is told, or it is named as one that is not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, get_args

from plait.client import (
    batch_events,
    batch_events__limits,
    batch_events__wishes,
    task_events,
    task_events__attempts,
    task_events__foresight,
)
from plait.client.record_context import RecordContext
from plait.client.stream_event import StreamEvent
from plait.core import decisions, reports, requests

# Any: each teller takes its own union; the table below gives it nothing else.
RecordMapper = Callable[[RecordContext, Any], Iterator[StreamEvent]]


def _map_to_nothing(
    _moment: RecordContext, _fact: requests.Request | reports.SourcesWritten
) -> Iterator[StreamEvent]:
    """A request is told when it is granted; that sources were written is between plait and them."""
    return iter(())


MAPPERS_BY_UNION: Iterable[tuple[object, RecordMapper]] = (
    (requests.Request, _map_to_nothing),
    (decisions.RequestDecision, batch_events__wishes.map_request_answer),
    (decisions.AttemptDecision, task_events__attempts.map_attempt_decision),
    (decisions.TaskDecision, task_events.map_task_decision),
    (decisions.BranchDecision, batch_events.map_branch_decision),
    (decisions.LimitDecision, batch_events__limits.map_limit_decision),
    (decisions.BatchDecision, batch_events.map_batch_decision),
    (reports.AttemptProgress, task_events__attempts.map_attempt_sign),
    (reports.AttemptEnd, task_events__attempts.map_attempt_exit),
    (reports.BranchReport, batch_events.map_branch_report),
    (reports.ConflictPrediction, task_events__foresight.map_conflict_prediction),
    (reports.MachineReport, batch_events__limits.map_machine_report),
)
MAPPERS = {fact: teller for union, teller in MAPPERS_BY_UNION for fact in get_args(union)}
MAPPERS[reports.SourcesWritten] = _map_to_nothing


def map_record(context: RecordContext) -> list[StreamEvent]:
    fact = context.record.event
    return list(MAPPERS[type(fact)](context, fact))
