"""agenda(state): what is owed, and from when. It reads no clock and makes no I/O; the same state gives the same agenda.

What is owed at once comes first, in the order of `RULES`; what is owed later follows, soonest first. Each item is right
on its own: when one has been decided, the agenda is asked anew, so that no rule needs to know what the others did.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from plait.core.decisions import Decision
from plait.core.decisions__due import IMMEDIATELY, Due
from plait.core.scheduler import (
    batches,
    batches__finish,
    batches__phase,
    breakers,
    breakers__distrust,
    endings,
    endings__clock,
    endings__halt,
    endings__stop,
    endings__timeout,
    merge_queue,
    merge_queue__merge,
    merge_queue__rebuild,
    outcomes,
    outcomes__retry,
    request_answers__answer,
    selection__budget,
    starts,
    starts__verify,
)
from plait.core.state import State

RULES = (
    batches.schedule_requested_publishes,
    endings__clock.schedule_deadline_shift,
    breakers.schedule_breaker_changes,
    outcomes.schedule_outcomes,
    request_answers__answer.schedule_answers,
    endings__stop.schedule_attempt_ends,
    endings.schedule_task_ends,
    endings__halt.schedule_halts,
    batches__phase.schedule_phase_openings,
    merge_queue__rebuild.schedule_rebuilds,
    merge_queue__merge.schedule_merges,
    merge_queue.schedule_gates,
    starts__verify.schedule_verifications,
    breakers__distrust.schedule_auth_pauses,
    selection__budget.schedule_budget_pauses,
    starts.schedule_starts,
    batches.schedule_publishes,
    batches__finish.schedule_batch_ends,
)
TIMED_RULES = (
    endings__timeout.schedule_timeouts,
    outcomes__retry.schedule_backoff_ends,
    breakers.schedule_breaker_closings,
    merge_queue.schedule_gate_timeouts,
)


def list_due(state: State) -> Iterator[Due]:
    for rule in RULES:
        yield from rule(state)
    yield from heapq.merge(*(rule(state) for rule in TIMED_RULES), key=lambda due: due.at)


def pick_due(due: Iterator[Due], now: float) -> tuple[Decision | None, float | None]:
    """The clock is only a filter: the first decision that is due now, else when to ask again (None: after news)."""
    first = next(due, None)
    if first is None:
        return None, None
    if first.at is IMMEDIATELY or first.at <= now:
        return first.decision, None
    return None, first.at
