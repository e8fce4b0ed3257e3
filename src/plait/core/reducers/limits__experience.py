"""What an exit teaches: what agents cost and take, and how patient providers are."""

from __future__ import annotations

from plait.core.contest import REFEREE
from plait.core.reports import Outcome
from plait.core.state import AgentStats, AttemptState, Refusal, State, TaskState
from plait.core.status import Category
from plait.core.task import Step

REMEMBERED_ATTEMPTS = 20


def record_exit(state: State, task: TaskState, attempt: AttemptState, outcome: Outcome) -> None:
    if outcome.category is Category.RATE_LIMIT:
        if not outcome.has_retry_time:
            _record_suspect_refusal(state, task, attempt)
        _record_exit_refusal(state, attempt, outcome)
        return
    task.refusals = 0
    known = state.agent_stats.setdefault(attempt.agent, AgentStats())
    if outcome.category is not Category.LOST:
        known.spends = (*known.spends, attempt.used)[-REMEMBERED_ATTEMPTS:]
    if outcome.category is Category.OK and attempt.ended_at is not None:
        took = attempt.ended_at - attempt.started_at
        if attempt.name.step is Step.WRITE and attempt.agent != REFEREE:
            state.task_durations[task.task.key] = took
        pace = took / max(task.task.weight, 0.01)
        known.seconds_per_weight = (*known.seconds_per_weight, pace)[-REMEMBERED_ATTEMPTS:]
        record_served(state, attempt)
        if _began_after_refusal(state, attempt):
            state.breakers[attempt.provider].streak = 0
            state.breakers[attempt.provider].served += 1


def record_memory(state: State, attempt: AttemptState, outcome: Outcome) -> None:
    """However it ended, it took that much. A heavy attempt says it of each of its slots."""
    if outcome.peak > 0:
        known = state.agent_stats.setdefault(attempt.agent, AgentStats())
        footprint = -(-outcome.peak // max(1, attempt.decision.slots))
        known.footprints = (*known.footprints, footprint)[-REMEMBERED_ATTEMPTS:]


def record_served(state: State, attempt: AttemptState) -> None:
    """Its provider gave it something, so that it may be given one more; each attempt shows that once."""
    breaker = state.breakers.get(attempt.provider)
    if breaker is None:
        return
    breaker.since = max(breaker.since, attempt.started_at)  # then it took work, so it did not refuse
    if not attempt.served and _began_after_refusal(state, attempt):
        attempt.served = True
        if breaker.limit is not None:
            breaker.credit += 1


def _began_after_refusal(state: State, attempt: AttemptState) -> bool:
    """What began before the last refusal says nothing about the time after it."""
    breaker = state.breakers.get(attempt.provider)
    return breaker is not None and attempt.started_at >= breaker.opened_at


def record_rejection(state: State, attempt: AttemptState) -> None:
    at = attempt.ended_at or state.now
    record_refusal(state, Refusal(attempt.provider, at, None, attempt.started_at, rejected=True))


def _record_suspect_refusal(state: State, task: TaskState, attempt: AttemptState) -> None:
    """Whoever is refused while others are served may not have been refused by the provider at all."""
    task.refusals += 1
    breaker = state.breakers.get(attempt.provider)
    served = breaker.served if breaker is not None else 0
    if (
        task.last_refusal is not None
        and task.last_refusal[0] == attempt.provider
        and task.last_refusal[1] < served
    ):
        task.suspect_refusals += 1
    task.last_refusal = (attempt.provider, served)


def _record_exit_refusal(state: State, attempt: AttemptState, outcome: Outcome) -> None:
    at = attempt.ended_at or state.now
    said = [
        instant for instant in (outcome.retry_at, outcome.retry_after and at + outcome.retry_after) if instant
    ]
    record_refusal(state, Refusal(attempt.provider, at, max(said, default=None), attempt.started_at))


def record_refusal(state: State, refusal: Refusal) -> None:
    """A breaker that stays open long enough has answered it already."""
    breaker = state.breakers.get(refusal.provider)
    until = breaker.until if breaker is not None else None
    if until is None or until <= refusal.at or (refusal.until is not None and until < refusal.until):
        state.refusals.append(refusal)
