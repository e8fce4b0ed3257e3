"""agenda(state): what is owed, and from when. It reads no clock and makes no I/O; the same state gives the same agenda.

What is owed at once comes first, in the order of `RULES`; what is owed later follows, soonest first. Each item is right
on its own: when one has been decided, the agenda is asked anew, so that no rule needs to know what the others did.

The engine's loop without its I/O: fold what came in, then fold every decision that is due.

The caller appends the records to the journal, and only then performs the decisions among them.

After a restart: which decisions are on disk while their result is not.

For each of them the world is asked first. What has a result is reported, what is under way is adopted, and what never
began is performed again; performing is idempotent, so asking too much does no harm.

Whether an engine is needed: the one that is there stays for as long as this holds, and fronts start one.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

from plait.core.decisions import IMMEDIATELY, AttemptEnding, Decision, Due, GateEnding, MergeStarted
from plait.core.events import Event, Record
from plait.core.reducers.dispatch import evolve
from plait.core.reports import Report
from plait.core.requests import Request
from plait.core.scheduler import (
    batches,
    breakers,
    endings,
    merge_queue,
    outcomes,
    request_answers,
    selection,
    starts,
)
from plait.core.state import BatchState, State
from plait.core.task import Step

RULES = (
    batches.schedule_requested_publishes,
    endings.schedule_deadline_shift,
    breakers.schedule_breaker_changes,
    outcomes.schedule_outcomes,
    request_answers.schedule_answers,
    endings.schedule_attempt_ends,
    endings.schedule_task_ends,
    endings.schedule_halts,
    batches.schedule_phase_openings,
    merge_queue.schedule_rebuilds,
    merge_queue.schedule_merges,
    merge_queue.schedule_gates,
    starts.schedule_verifications,
    breakers.schedule_auth_pauses,
    selection.schedule_budget_pauses,
    starts.schedule_starts,
    batches.schedule_publishes,
    batches.schedule_batch_ends,
)
TIMED_RULES = (
    endings.schedule_timeouts,
    outcomes.schedule_backoff_ends,
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


def fold_incoming(state: State, incoming: Sequence[Request | Report], at: float) -> list[Record]:
    """Fold requests and reports; a request seen before is left out."""
    # A report carries no `id`, so only a request can be a second copy.
    return [
        _append_event(state, event, at) for event in incoming if getattr(event, "id", None) not in state.seen_requests
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


def list_outstanding(state: State) -> list[Decision]:
    of_batches = [decision for batch in state.open.values() for decision in _outstanding_of_batch(batch)]
    shipping = [batch.publishing for batch in state.publishing_batches.values() if batch.publishing is not None]
    return [*of_batches, *shipping]


def _outstanding_of_batch(batch: BatchState) -> Iterator[Decision]:
    for attempt in batch.alive.values():
        yield attempt.decision
        if attempt.ending is not None:
            yield AttemptEnding(attempt.name, attempt.ending, attempt.ending_now)
    if batch.merging is not None:
        task = batch.tasks[batch.merging]
        n = task.attempt_counts[Step.MERGE]
        yield MergeStarted(batch.id, task.task.id, n, task.base or "", task.tip or "", batch.head)
    if batch.rebuild is not None:
        yield batch.rebuild
    if batch.gate is not None:
        yield batch.gate.decision
        if batch.gate.ending is not None:
            yield GateEnding(batch.id, batch.gate.n, batch.gate.ending)


def is_engine_needed(state: State) -> bool:
    """Something is under way, owed, or will be. What waits for a person alone needs nobody."""
    if state.unanswered or state.publishing_batches:
        return True
    going = [batch for batch in state.open.values() if _is_under_way(batch) or batch.paused is None]
    if not going:
        return False
    if any(_is_under_way(batch) for batch in going):
        return True
    # What the machine holds back is looked at by an engine only.
    held_back = state.pressure is not None or (state.capacity is not None and state.capacity.slots is not None)
    return held_back or next(list_due(state), None) is not None


def _is_under_way(batch: BatchState) -> bool:
    """Somebody has to hear what becomes of it."""
    return bool(batch.alive) or batch.merging is not None or batch.rebuild is not None or batch.gate is not None
