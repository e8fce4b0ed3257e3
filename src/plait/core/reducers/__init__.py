"""One fold: `evolve` applies a record to the state, by the module for its kind.

It is total, holds no policy, and never fails on an old journal. A record about something unknown or finished changes nothing
but the sequence number and the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, get_args

from plait.core import decisions, reports, requests
from plait.core.events import Record
from plait.core.reducers import attempts, batch_branch, batches, file_conflicts, granted_requests, limits
from plait.core.state import State

# Any: each handler takes its own union; the table below gives it nothing else.
Handler = Callable[[State, float, Any], None]


HANDLERS_BY_UNION: Iterable[tuple[object, Handler]] = (
    (requests.Request, granted_requests.receive_request),
    (decisions.RequestDecision, granted_requests.apply_answer),
    (decisions.AttemptDecision, attempts.apply_attempt_decision),
    (decisions.TaskDecision, attempts.apply_task_decision),
    (decisions.BranchDecision, batch_branch.apply_branch_decision),
    (decisions.LimitDecision, limits.apply_limit_decision),
    (decisions.BatchDecision, batches.apply_batch_decision),
    (reports.AttemptProgress, attempts.apply_attempt_progress),
    (reports.AttemptEnd, attempts.apply_attempt_end),
    (reports.CommitReport, attempts.apply_commit_report),
    (reports.BranchReport, batch_branch.apply_branch_report),
    (reports.ConflictPrediction, file_conflicts.apply_conflict_prediction),
    (reports.MachineReport, limits.apply_machine_report),
    (reports.SourceReport, batches.apply_source_report),
)
HANDLERS = {event: handler for union, handler in HANDLERS_BY_UNION for event in get_args(union)}


def evolve(state: State, record: Record) -> State:
    state.seq = record.seq
    state.now = record.at
    HANDLERS[type(record.event)](state, record.at, record.event)
    return state
