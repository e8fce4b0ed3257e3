"""Limits of all batches: providers, the machine, the clock, the engine's lease; and what exits say about costs and limits."""

from __future__ import annotations

from typing import assert_never

from plait.core import decisions, reports
from plait.core.contest import REFEREE
from plait.core.state import AgentStats, AttemptState, Breaker, Refusal, State, TaskState
from plait.core.status import Category
from plait.core.task import Step


def apply_limit_decision(state: State, at: float, decision: decisions.LimitDecision) -> None:
    match decision:
        case decisions.BreakerOpened():
            _open_breaker(state, at, decision)
        case decisions.BreakerClosed():
            breaker = state.breakers.get(decision.provider)
            if breaker is not None and breaker.until is not None:
                state.breaker_closings.discard((breaker.until, decision.provider))
                breaker.unserved = 0 if breaker.retry_requested else breaker.unserved
                breaker.until = None
                breaker.retry_requested = False
        case decisions.LimitRaised():
            breaker = state.breakers.setdefault(decision.provider, Breaker())
            breaker.limit = decision.limit
            breaker.credit = max(0, breaker.credit - 1) if decision.limit is not None else 0
        case decisions.DeadlinesMoved():
            _move_deadlines(state, decision.by)
        case _:
            assert_never(decision)


def apply_machine_report(state: State, at: float, report: reports.MachineReport) -> None:
    match report:
        case reports.RateLimited():
            record_refusal(state, Refusal(report.provider, at, report.until, at))
        case reports.PressureChanged():
            state.pressure = report.why
        case reports.CapacityChanged():
            state.capacity = None if report.slots is None else report
        case reports.ClockJumped():
            state.clock_jump += report.by
        case reports.EngineTaken():
            state.engine = report
            # The last engine's readings are out of date; this engine reports its own.
            state.pressure = None
            state.capacity = None
        case reports.EngineReleased():
            state.engine = None
        case _:
            assert_never(report)


def note_work_request(state: State) -> None:
    """Note that a person requested work, and so may have logged in or paid: providers may be tried again."""
    for breaker in state.breakers.values():
        breaker.retry_requested = breaker.until is not None


def _open_breaker(state: State, at: float, decision: decisions.BreakerOpened) -> None:
    breaker = state.breakers.setdefault(decision.provider, Breaker())
    lasting = breaker.until is not None and breaker.until > at
    if breaker.until is not None:
        state.breaker_closings.discard((breaker.until, decision.provider))
    if not lasting:
        breaker.since = breaker.since if breaker.streak else at
        breaker.opened_at = at
        breaker.streak += 1
        breaker.unserved_since = breaker.unserved_since if breaker.unserved else at
        breaker.unserved += 1
        breaker.peak_attempts = max(breaker.peak_attempts, state.providers.get(decision.provider, 0) + 1)
    breaker.until, breaker.limit, breaker.why = decision.until, decision.limit, decision.why
    breaker.rejected, breaker.retry_requested = decision.rejected, False
    breaker.credit = 0
    state.breaker_closings.add((decision.until, decision.provider))
    first = next((refusal for refusal in state.refusals if refusal.provider == decision.provider), None)
    breaker.has_reset_time = first is not None and first.until is not None
    _clear_refusals(state, decision, first)


def _clear_refusals(state: State, decision: decisions.BreakerOpened, first: Refusal | None) -> None:
    """Remove the provider's first refusal, and the others that this breaker covers."""

    def answered(refusal: Refusal) -> bool:
        enough = refusal.until is None or refusal.until <= decision.until
        return refusal is first or (refusal.provider == decision.provider and enough)

    state.refusals = [refusal for refusal in state.refusals if not answered(refusal)]


def _move_deadlines(state: State, by: float) -> None:
    state.clock_jump = 0.0
    if by < 0:
        _move_waits(state, by)
    for breaker in state.breakers.values():
        breaker.opened_at += by
        breaker.since += by
        breaker.unserved_since += by
    for batch in state.open.values():
        for attempt in batch.alive.values():
            _move_attempt(state, attempt, by)
        batch.busy_since = None if batch.busy_since is None else batch.busy_since + by
        if batch.gate is not None:
            state.gate_deadlines.discard((batch.gate.deadline, batch.id, batch.gate.n))
            batch.gate.deadline += by
            if not batch.gate.ending:
                state.gate_deadlines.add((batch.gate.deadline, batch.id, batch.gate.n))


def _move_waits(state: State, by: float) -> None:
    """Move the ends of backoffs and breakers, so that a clock that was set back makes no wait longer."""
    for at, name, index in list(state.backoffs):
        state.backoffs.discard((at, name, index))
        state.backoffs.add((at + by, name, index))
        state.batches[name].tasks[index].not_before = at + by
    for provider, breaker in state.breakers.items():
        if breaker.until is not None:
            state.breaker_closings.discard((breaker.until, provider))
            breaker.until += by
            state.breaker_closings.add((breaker.until, provider))


def _move_attempt(state: State, attempt: AttemptState, by: float) -> None:
    state.deadlines.discard((attempt.expires, attempt.name))
    attempt.deadline += by
    attempt.started_at += by
    attempt.last_active_at += by
    if attempt.ending is None:
        state.deadlines.add((attempt.expires, attempt.name))


REMEMBERED_ATTEMPTS = 20


def record_exit(state: State, task: TaskState, attempt: AttemptState, outcome: reports.Outcome) -> None:
    if outcome.category is Category.RATE_LIMIT:
        if not outcome.has_retry_time:
            _record_suspect_refusal(state, task, attempt)
        _record_exit_refusal(state, attempt, outcome)
        return
    task.refusals = 0
    stats = state.agent_stats.setdefault(attempt.agent, AgentStats())
    if outcome.category not in {Category.LOST, Category.OUTAGE}:
        stats.spends = (*stats.spends, attempt.used)[-REMEMBERED_ATTEMPTS:]
    if outcome.category is Category.OK and attempt.ended_at is not None:
        took = attempt.ended_at - attempt.started_at
        if attempt.name.step is Step.WRITE and attempt.agent != REFEREE:
            state.task_durations[task.task.key] = took
        pace = took / max(task.task.weight, 0.01)
        stats.seconds_per_weight = (*stats.seconds_per_weight, pace)[-REMEMBERED_ATTEMPTS:]
        record_served(state, attempt)
        if _began_after_refusal(state, attempt):
            state.breakers[attempt.provider].streak = 0
            state.breakers[attempt.provider].served += 1


def record_memory(state: State, attempt: AttemptState, outcome: reports.Outcome) -> None:
    """Record the memory of an attempt, however it ended; for one with several slots, the memory per slot."""
    if outcome.peak > 0:
        stats = state.agent_stats.setdefault(attempt.agent, AgentStats())
        footprint = -(-outcome.peak // max(1, attempt.decision.slots))
        stats.footprints = (*stats.footprints, footprint)[-REMEMBERED_ATTEMPTS:]


def record_served(state: State, attempt: AttemptState) -> None:
    """Record that the provider served this attempt, so that its limit may rise by one; each attempt counts once."""
    breaker = state.breakers.get(attempt.provider)
    if breaker is None:
        return
    breaker.since = max(breaker.since, attempt.started_at)  # the provider accepted work then, so it did not refuse
    if not attempt.served and _began_after_refusal(state, attempt):
        attempt.served = True
        breaker.unserved = 0
        if breaker.limit is not None:
            breaker.credit += 1


def _began_after_refusal(state: State, attempt: AttemptState) -> bool:
    """Whether it started after the last refusal: an earlier attempt proves nothing about the provider now."""
    breaker = state.breakers.get(attempt.provider)
    return breaker is not None and attempt.started_at >= breaker.opened_at


def record_rejection(state: State, attempt: AttemptState) -> None:
    at = attempt.ended_at or state.now
    record_refusal(state, Refusal(attempt.provider, at, None, attempt.started_at, rejected=True))


def _record_suspect_refusal(state: State, task: TaskState, attempt: AttemptState) -> None:
    """Count a refusal while the provider serves other tasks: the cause may be the task, not the provider."""
    task.refusals += 1
    breaker = state.breakers.get(attempt.provider)
    served = breaker.served if breaker is not None else 0
    if task.last_refusal is not None and task.last_refusal[0] == attempt.provider and task.last_refusal[1] < served:
        task.suspect_refusals += 1
    task.last_refusal = (attempt.provider, served)


def _record_exit_refusal(state: State, attempt: AttemptState, outcome: reports.Outcome) -> None:
    at = attempt.ended_at or state.now
    retry_times = [
        instant for instant in (outcome.retry_at, outcome.retry_after and at + outcome.retry_after) if instant
    ]
    record_refusal(state, Refusal(attempt.provider, at, max(retry_times, default=None), attempt.started_at))


def record_refusal(state: State, refusal: Refusal) -> None:
    """Record a refusal, unless the breaker is already open long enough."""
    breaker = state.breakers.get(refusal.provider)
    until = breaker.until if breaker is not None else None
    if until is None or until <= refusal.at or (refusal.until is not None and until < refusal.until):
        state.refusals.append(refusal)
