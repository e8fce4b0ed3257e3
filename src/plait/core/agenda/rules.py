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
from plait.core.agenda.due import ALWAYS, Due
from plait.core.decisions import Decision
from plait.core.state import State

RULES = (
    publish.asked,
    clock.owed,
    breaker.owed,
    judge.owed,
    answer.owed,
    stop.owed,
    block.owed,
    halt.owed,
    phase.owed,
    rebuild.owed,
    merge.owed,
    gate.owed,
    verify.owed,
    distrust.owed,
    budget.owed,
    start.owed,
    publish.owed,
    finish.owed,
)
TIMED = (timeout.later, retry.later, breaker.later, gate.later)


def agenda(state: State) -> Iterator[Due]:
    for rule in RULES:
        yield from rule(state)
    yield from heapq.merge(*(rule(state) for rule in TIMED), key=lambda due: due.at)


def split(due: Iterator[Due], now: float) -> tuple[Decision | None, float | None]:
    """The clock is only a filter: the first decision that is due now, else when to ask again (None: after news)."""
    first = next(due, None)
    if first is None:
        return None, None
    if first.at is ALWAYS or first.at <= now:
        return first.decision, None
    return None, first.at
