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
# Who refuses again and again is not believed to be ready at once, whatever it says, nor never again.
AGAIN = Backoff(base=5.0, factor=2.0, cap=600.0, jitter=0.1)
LONGEST = 8 * 86_400.0


def owed(state: State) -> Iterator[Due]:
    for refusal in state.refusals:
        yield now(_open(state, refusal))
    for provider, breaker in state.breakers.items():
        if breaker.credit and breaker.until is None and breaker.limit is not None:
            raised = breaker.limit + 1
            yield now(LimitRaised(provider, raised if raised < breaker.peak else None))


def later(state: State) -> Iterator[Due]:
    for at, provider in state.closings:
        yield Due(at, BreakerClosed(provider))


def why_closed(state: State, provider: str) -> str | None:
    """Why nothing may be started with this provider now; None when something may."""
    breaker = state.breakers.get(provider)
    if breaker is None:
        return None
    if breaker.until is not None:
        return f"{provider} takes no more work for now ({breaker.why})"
    if breaker.limit is not None and state.providers.get(provider, 0) >= breaker.limit:
        return f"{provider} is given {breaker.limit} at once since its last refusal"
    return None


def _open(state: State, refusal: Refusal) -> BreakerOpened:
    breaker = state.breakers.get(refusal.provider) or Breaker()
    spread = chance(int(refusal.at), refusal.provider, breaker.streak)
    least = AGAIN.delay(breaker.streak, spread) if breaker.streak else 0.0
    said = UNSAID.delay(breaker.streak + 1, spread) if refusal.until is None else refusal.until - refusal.at
    until = refusal.at + min(max(said, least), LONGEST)
    why = "the provider refused" + ("" if refusal.until else " without saying until when")
    return BreakerOpened(refusal.provider, until, _limit(state, refusal, breaker), why)


def _limit(state: State, refusal: Refusal, breaker: Breaker) -> int:
    """Halve once per refusal of the provider, not once per attempt that met the same refusal."""
    if breaker.limit is not None and refusal.began < breaker.opened_at:
        return breaker.limit
    at_work = state.providers.get(refusal.provider, 0) + 1
    return max(1, min(at_work, breaker.limit or at_work) // 2)
