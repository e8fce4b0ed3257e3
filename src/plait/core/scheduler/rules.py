"""The engine's loop without I/O: fold what came in, then fold every decision that is due.

`list_due` lists what is due and from when; it reads no clock, and the same state gives the same list. What is due at
once comes first, in the order of `RULES`; what is due later follows, soonest first. After each decision the rules run
again, so no rule depends on what another one did. The caller appends the records to the journal and only then performs
the decisions among them.

After a restart, `list_outstanding` gives the decisions that are in the journal without a result. The engine looks for
the result of each: it reports what it finds, adopts what is running, and performs the rest again. Performing is
idempotent, so listing too much does no harm.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence

from plait.core.decisions import AttemptEnding, CommitStarted, Decision, Due, GateEnding, MergeStarted
from plait.core.events import Event, Record
from plait.core.reducers import evolve
from plait.core.reports import Report
from plait.core.requests import Request
from plait.core.scheduler import batches, breakers, endings, merge_queue, outcomes, request_answers, starts
from plait.core.state import BatchState, State
from plait.core.status import NextAction, PauseCause
from plait.core.task import Step

IMMEDIATELY = float("-inf")
RULES: tuple[Callable[[State], Iterator[Decision]], ...] = (
    batches.schedule_requested_publishes,
    endings.schedule_deadline_shift,
    breakers.schedule_breaker_changes,
    outcomes.schedule_outcomes,
    request_answers.schedule_answers,
    endings.schedule_attempt_ends,
    endings.schedule_task_ends,
    endings.schedule_halts,
    batches.schedule_phase_openings,
    outcomes.schedule_commits,
    merge_queue.schedule_rebuilds,
    merge_queue.schedule_merges,
    merge_queue.schedule_gates,
    outcomes.schedule_verifications,
    breakers.schedule_auth_pauses,
    breakers.schedule_limit_pauses,
    starts.schedule_budget_pauses,
    starts.schedule_starts,
    batches.schedule_publishes,
    batches.schedule_batch_ends,
)
TIMED_RULES: tuple[Callable[[State], Iterator[Due]], ...] = (
    endings.schedule_timeouts,
    outcomes.schedule_backoff_ends,
    breakers.schedule_breaker_closings,
    merge_queue.schedule_gate_timeouts,
)


def list_due(state: State) -> Iterator[Due]:
    for rule in RULES:
        for decision in rule(state):
            yield Due(IMMEDIATELY, decision)
    yield from heapq.merge(*(rule(state) for rule in TIMED_RULES), key=lambda due: due.at)


def pick_due(due: Iterator[Due], now: float) -> tuple[Decision | None, float | None]:
    """Return the first decision that is due now, else when to call again (None: only after news)."""
    first = next(due, None)
    if first is None:
        return None, None
    if first.at <= now:
        return first.decision, None
    return None, first.at


def fold_incoming(state: State, incoming: Sequence[Request | Report], at: float) -> list[Record]:
    """Fold requests and reports, except for requests that were seen before."""
    return [
        _append_event(state, event, at)
        for event in incoming
        if not (isinstance(event, Request) and event.id in state.seen_requests)
    ]


def decide_due(state: State, at: float) -> tuple[list[Record], float | None]:
    """Fold all that is due at `at`, one decision at a time; also say when to call again (None: only after news)."""
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
    """List the decisions that are in the journal while their result is not."""
    outstanding = [decision for batch in state.open.values() for decision in _outstanding_of_batch(batch)]
    publishing = (batch.publishing for batch in state.publishing_batches.values())
    return [*outstanding, *(decision for decision in publishing if decision is not None)]


def _outstanding_of_batch(batch: BatchState) -> Iterator[Decision]:
    for attempt in batch.alive.values():
        yield attempt.decision
        if attempt.ending is not None:
            yield AttemptEnding(attempt.name, attempt.ending, attempt.ending_now)
    for task in (batch.tasks[index] for index in batch.committing):
        if task.uncommitted is not None and task.committing is not None:
            yield CommitStarted(task.uncommitted.name, task.committing)
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
    """Whether an engine has something to do now or later; waiting for a person alone needs none.

    A running engine stays while this holds, and clients start one.
    """
    if state.unanswered or state.publishing_batches:
        return True
    if any(batch.alive or batch.committing or batch.has_branch_work for batch in state.open.values()):
        return True
    if all(batch.paused is not None and not _continues_while_paused(state, batch) for batch in state.open.values()):
        return False
    # Only an engine notices when the machine has room again.
    held_back = state.pressure is not None or (state.capacity is not None and state.capacity.slots is not None)
    return held_back or next(list_due(state), None) is not None


def _continues_while_paused(state: State, batch: BatchState) -> bool:
    """Whether a paused batch may do something without a person: commit or merge after a backoff or, when only its budget
    holds it back, check what is written.
    """
    over_budget = batch.paused is not None and batch.paused.cause is PauseCause.BUDGET
    if over_budget and (batch.tasks_by_action[NextAction.VERIFY] or merge_queue.is_ungated(batch)):
        return True
    backoffs = (batch.tasks[index] for _, name, index in state.backoffs if name == batch.id)
    return any(not starts.is_held_by_pause(batch, task) for task in backoffs)
