"""What an exit teaches: what agents cost and take, and how patient providers are."""

from __future__ import annotations

from plait.core.reports import Outcome
from plait.core.state import AttemptState, Breaker, Experience, Refusal, State, TaskState
from plait.core.status import Category
from plait.core.task import Step

REMEMBERED = 20


def learn(state: State, task: TaskState, attempt: AttemptState, outcome: Outcome) -> None:
    if outcome.category is Category.RATE_LIMIT:
        _note_refusal(state, attempt, outcome)
        return
    known = state.experience.setdefault(attempt.agent, Experience())
    if outcome.category is not Category.LOST:
        known.spends = (*known.spends, attempt.used)[-REMEMBERED:]
    if outcome.category is Category.OK and attempt.ended_at is not None:
        took = attempt.ended_at - attempt.started_at
        if attempt.name.step is Step.WRITE:
            state.lengths[task.task.key] = took
        pace = took / max(task.task.weight, 0.01)
        known.paces = (*known.paces, pace)[-REMEMBERED:]
        _note_success(state.breakers.get(attempt.provider), attempt)


def note_footprint(state: State, attempt: AttemptState, outcome: Outcome) -> None:
    """However it ended, it took that much. A heavy attempt says it of each of its slots."""
    if outcome.peak > 0:
        known = state.experience.setdefault(attempt.agent, Experience())
        footprint = -(-outcome.peak // max(1, attempt.decision.slots))
        known.footprints = (*known.footprints, footprint)[-REMEMBERED:]


def _note_success(breaker: Breaker | None, attempt: AttemptState) -> None:
    """What began before the last refusal says nothing about the time after it."""
    if breaker is not None and attempt.started_at >= breaker.opened_at:
        breaker.streak = 0
        if breaker.limit is not None:
            breaker.credit += 1


def _note_refusal(state: State, attempt: AttemptState, outcome: Outcome) -> None:
    at = attempt.ended_at or state.now
    said = [
        instant for instant in (outcome.retry_at, outcome.retry_after and at + outcome.retry_after) if instant
    ]
    note_refusal(state, Refusal(attempt.provider, at, max(said, default=None), attempt.started_at))


def note_refusal(state: State, refusal: Refusal) -> None:
    """A breaker that stays open long enough has answered it already."""
    breaker = state.breakers.get(refusal.provider)
    until = breaker.until if breaker is not None else None
    if until is None or until <= refusal.at or (refusal.until is not None and until < refusal.until):
        state.refusals.append(refusal)
