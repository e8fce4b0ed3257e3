"""evolve(state, record): fold one fact. It is total, holds no policy, and never fails on an old journal.

A fact about something unknown or long over changes nothing but the counters of the list itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, get_args

from plait.core import decisions, reports, requests
from plait.core.events import Record
from plait.core.evolve import attempts, batches, foresight, limits, line, wishes
from plait.core.state import State

# Any: each handler takes its own union; the table below gives it nothing else.
Handler = Callable[[State, float, Any], None]

GROUPS: Iterable[tuple[object, Handler]] = (
    (requests.Request, wishes.arrive),
    (decisions.AboutRequest, wishes.answer),
    (decisions.AboutAttempt, attempts.decided),
    (decisions.AboutTask, attempts.judged),
    (decisions.AboutLine, line.decided),
    (decisions.AboutLimit, limits.decided),
    (decisions.AboutBatch, batches.decided),
    (reports.AttemptSign, attempts.signed),
    (reports.AttemptOver, attempts.over),
    (reports.LineReport, line.reported),
    (reports.Foresight, foresight.reported),
    (reports.MachineReport, limits.reported),
)
HANDLERS = {event: handler for union, handler in GROUPS for event in get_args(union)}
HANDLERS[reports.SourcesWritten] = lambda _state, _at, _report: (
    None
)  # whoever writes to sources keeps that account


def evolve(state: State, record: Record) -> State:
    state.seq = record.seq
    state.now = record.at
    HANDLERS[type(record.event)](state, record.at, record.event)
    return state
