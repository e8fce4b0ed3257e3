"""What bounds all batches: providers, the machine, the clock, the engine's own lease."""

from __future__ import annotations

from typing import assert_never

from plait.core.decisions import BreakerClosed, BreakerOpened, DeadlinesMoved, LimitDecision, LimitRaised
from plait.core.reducers.limits__experience import record_refusal
from plait.core.reports import (
    CapacityChanged,
    ClockJumped,
    EngineReleased,
    EngineTaken,
    MachineReport,
    PressureChanged,
    RateLimited,
)
from plait.core.state import AttemptState, Breaker, Refusal, State


def apply_limit_decision(state: State, at: float, decision: LimitDecision) -> None:
    match decision:
        case BreakerOpened():
            _open_breaker(state, at, decision)
        case BreakerClosed():
            breaker = state.breakers.get(decision.provider)
            if breaker is not None and breaker.until is not None:
                state.breaker_closings.discard((breaker.until, decision.provider))
                breaker.until = None
                breaker.retry_requested = False
        case LimitRaised():
            breaker = state.breakers.setdefault(decision.provider, Breaker())
            breaker.limit = decision.limit
            breaker.credit = max(0, breaker.credit - 1) if decision.limit is not None else 0
        case DeadlinesMoved():
            _move_deadlines(state, decision.by)
        case _:
            assert_never(decision)


def apply_machine_report(state: State, at: float, report: MachineReport) -> None:
    match report:
        case RateLimited():
            record_refusal(state, Refusal(report.provider, at, report.until, at))
        case PressureChanged():
            state.pressure = report.why
        case CapacityChanged():
            state.capacity = None if report.slots is None else report
        case ClockJumped():
            state.clock_jump += report.by
        case EngineTaken():
            state.engine, state.engine_since = report, at
            # What the last engine's sensors saw says nothing about now; this one's tell what they see.
            state.pressure = None
            state.capacity = None
        case EngineReleased():
            state.engine = None
        case _:
            assert_never(report)


def retry_rejecting_providers(state: State) -> None:
    """Whoever asks for work may have logged in, or paid: a provider that rejected somebody is tried once more."""
    for breaker in state.breakers.values():
        breaker.retry_requested = breaker.rejected and breaker.until is not None


def _open_breaker(state: State, at: float, decision: BreakerOpened) -> None:
    breaker = state.breakers.setdefault(decision.provider, Breaker())
    lasting = breaker.until is not None and breaker.until > at
    if breaker.until is not None:
        state.breaker_closings.discard((breaker.until, decision.provider))
    if not lasting:
        breaker.since = breaker.since if breaker.streak else at
        breaker.opened_at = at
        breaker.streak += 1
        breaker.peak_attempts = max(breaker.peak_attempts, state.providers.get(decision.provider, 0) + 1)
    breaker.until, breaker.limit, breaker.why = decision.until, decision.limit, decision.why
    breaker.rejected, breaker.retry_requested = decision.rejected, False
    breaker.credit = 0
    state.breaker_closings.add((decision.until, decision.provider))
    _clear_refusals(state, decision)


def _clear_refusals(state: State, decision: BreakerOpened) -> None:
    """The provider's first refusal is answered by this, and with it those that ask for no more."""
    first = next((refusal for refusal in state.refusals if refusal.provider == decision.provider), None)

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
    for batch in state.open.values():
        for attempt in batch.alive.values():
            _move_attempt(state, attempt, by)
        if batch.gate is not None:
            state.gate_deadlines.discard((batch.gate.deadline, batch.id, batch.gate.n))
            batch.gate.deadline += by
            if not batch.gate.ending:
                state.gate_deadlines.add((batch.gate.deadline, batch.id, batch.gate.n))


def _move_waits(state: State, by: float) -> None:
    """A clock that was set back makes nobody wait longer."""
    for at, name, place in list(state.backoffs):
        state.backoffs.discard((at, name, place))
        state.backoffs.add((at + by, name, place))
        state.batches[name].tasks[place].not_before = at + by
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
