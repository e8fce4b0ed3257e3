"""A provider that refuses is left alone until it said, then tried with half as many at once, then with more again."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.agenda.due import Due, now
from plait.core.chance import chance
from plait.core.decisions import BreakerClosed, BreakerOpened, LimitRaised
from plait.core.settings import Backoff
from plait.core.state import Breaker, Refusal, State

# For providers that refuse without saying until when: a minute, then longer, an hour at most.
UNSAID = Backoff(base=60.0, factor=2.0, cap=3600.0, jitter=0.1)


def owed(state: State) -> Iterator[Due]:
    for refusal in state.refusals:
        yield now(_open(state, refusal))
    for provider, breaker in state.breakers.items():
        if breaker.credit and breaker.until is None and breaker.limit is not None:
            raised = breaker.limit + 1
            yield now(LimitRaised(provider, raised if raised < breaker.peak else None))


def later(state: State) -> Iterator[Due]:
    for at, provider in state.reopenings:
        yield Due(at, BreakerClosed(provider))


def allows(state: State, provider: str) -> bool:
    breaker = state.breakers.get(provider)
    if breaker is None:
        return True
    room = breaker.limit is None or state.providers.get(provider, 0) < breaker.limit
    return breaker.until is None and room


def _open(state: State, refusal: Refusal) -> BreakerOpened:
    breaker = state.breakers.get(refusal.provider) or Breaker()
    until = refusal.until
    if until is None:
        spread = chance(int(refusal.at), refusal.provider, breaker.streak)
        until = refusal.at + UNSAID.delay(breaker.streak + 1, spread)
    limit = _limit(state, refusal, breaker)
    why = "the provider refused" + ("" if refusal.until else " without saying until when")
    return BreakerOpened(refusal.provider, max(until, refusal.at), limit, why)


def _limit(state: State, refusal: Refusal, breaker: Breaker) -> int:
    """Halve once per refusal of the provider, not once per attempt that met the same refusal."""
    if breaker.limit is not None and refusal.began < breaker.opened_at:
        return breaker.limit
    at_work = state.providers.get(refusal.provider, 0) + 1
    return max(1, min(at_work, breaker.limit or at_work) // 2)
