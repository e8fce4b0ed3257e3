"""What follows from each kind of record for those who listen: a kind is told, or it is named as one that is not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, get_args

from plait.core import decisions, reports, requests
from plait.front.event import StreamEvent
from plait.front.moment import RecordContext
from plait.front.telling import attempts, batches, foresight, limits, tasks, wishes

# Any: each teller takes its own union; the table below gives it nothing else.
RecordMapper = Callable[[RecordContext, Any], Iterator[StreamEvent]]


def _map_to_nothing(
    _moment: RecordContext, _fact: requests.Request | reports.SourcesWritten
) -> Iterator[StreamEvent]:
    """A request is told when it is granted; that sources were written is between plait and them."""
    return iter(())


MAPPERS_BY_UNION: Iterable[tuple[object, RecordMapper]] = (
    (requests.Request, _map_to_nothing),
    (decisions.RequestDecision, wishes.map_request_answer),
    (decisions.AttemptDecision, attempts.map_attempt_decision),
    (decisions.TaskDecision, tasks.map_task_decision),
    (decisions.BranchDecision, batches.map_branch_decision),
    (decisions.LimitDecision, limits.map_limit_decision),
    (decisions.BatchDecision, batches.map_batch_decision),
    (reports.AttemptProgress, attempts.map_attempt_sign),
    (reports.AttemptEnd, attempts.map_attempt_exit),
    (reports.BranchReport, batches.map_branch_report),
    (reports.ConflictPrediction, foresight.map_conflict_prediction),
    (reports.MachineReport, limits.map_machine_report),
)
MAPPERS = {fact: teller for union, teller in MAPPERS_BY_UNION for fact in get_args(union)}
MAPPERS[reports.SourcesWritten] = _map_to_nothing


def map_record(context: RecordContext) -> list[StreamEvent]:
    fact = context.record.event
    return list(MAPPERS[type(fact)](context, fact))
