"""agenda(state): what is owed, and from when. It reads no clock and makes no I/O; the same state gives the same agenda.

What is owed at once comes first, in the order of `RULES`; what is owed later follows, soonest first. Each item is right
on its own: when one has been decided, the agenda is asked anew, so that no rule needs to know what the others did.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from plait.core.agenda import (
    answer,
    block,
    breaker,
    budget,
    clock,
    distrust,
    finish,
    gate,
    halt,
    judge,
    merge,
    phase,
    publish,
    rebuild,
    retry,
    start,
    stop,
    timeout,
    verify,
)
from plait.core.agenda.due import IMMEDIATELY, Due
from plait.core.decisions import Decision
from plait.core.state import State

RULES = (
    publish.schedule_requested_publishes,
    clock.schedule_deadline_shift,
    breaker.schedule_breaker_changes,
    judge.schedule_outcomes,
    answer.schedule_answers,
    stop.schedule_attempt_ends,
    block.schedule_task_ends,
    halt.schedule_halts,
    phase.schedule_phase_openings,
    rebuild.schedule_rebuilds,
    merge.schedule_merges,
    gate.schedule_gates,
    verify.schedule_verifications,
    distrust.schedule_auth_pauses,
    budget.schedule_budget_pauses,
    start.schedule_starts,
    publish.schedule_publishes,
    finish.schedule_batch_ends,
)
TIMED_RULES = (
    timeout.schedule_timeouts,
    retry.schedule_backoff_ends,
    breaker.schedule_breaker_closings,
    gate.schedule_gate_timeouts,
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
