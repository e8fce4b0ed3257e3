"""The engine's loop without its I/O: fold what came in, then fold every decision that is due.

The caller appends the records to the journal, and only then performs the decisions among them.
"""

from __future__ import annotations

from collections.abc import Sequence

from plait.core.events import Event, Record
from plait.core.reducers.dispatch import evolve
from plait.core.reports import Report
from plait.core.requests import Request
from plait.core.scheduler.rules import list_due, pick_due
from plait.core.state import State


def fold_incoming(state: State, incoming: Sequence[Request | Report], at: float) -> list[Record]:
    """Fold requests and reports; a request seen before is left out."""
    # A report carries no `id`, so only a request can be a second copy.
    return [
        _append_event(state, event, at)
        for event in incoming
        if getattr(event, "id", None) not in state.seen_requests
    ]


def decide_due(state: State, at: float) -> tuple[list[Record], float | None]:
    """Fold all that is due at `at`, one decision at a time, and say when to come back (None: only for news)."""
    decided: list[Record] = []
    while True:
        decision, wake = pick_due(list_due(state), at)
        if decision is None:
            return decided, wake
        decided.append(_append_event(state, decision, at))


def _append_event(state: State, event: Event, at: float) -> Record:
    record = Record(state.seq + 1, at, event)
    evolve(state, record)
    return record
