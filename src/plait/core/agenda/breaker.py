"""A provider that refuses is left alone until it said, then tried with half as many at once, then with more again."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.agenda.due import Due, now
from plait.core.chance import chance
from plait.core.decisions import BreakerClosed, BreakerOpened, LimitRaised
from plait.core.settings import Backoff
from plait.core.state import Breaker, Refusal, State

# For providers that refuse without saying until when: a minute, then longer, up to ten; and when it goes on for hours,
# a share of the time that it has lasted, so that little of the night is lost whenever it ends.
UNSAID = Backoff(base=60.0, factor=2.0, cap=600.0, jitter=0.1)
SHARE = 0.04
# Where somebody has to log in or to pay, nothing changes soon.
REJECTED = Backoff(base=3600.0, factor=2.0, cap=8 * 3600.0, jitter=0.1)
# Who refuses again and again is not believed to be ready at once, whatever it says, nor never again.
AGAIN = Backoff(base=5.0, factor=2.0, cap=600.0, jitter=0.1)
LONGEST = 8 * 86_400.0


def owed(state: State) -> Iterator[Due]:
    for refusal in state.refusals:
        yield now(_open(state, refusal))
    for provider, breaker in state.breakers.items():
        if breaker.mended:
            yield now(BreakerClosed(provider))
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


def is_closed(state: State, provider: str) -> bool:
    """It takes no work at all, until an instant that is known; who is only busy is not closed."""
    breaker = state.breakers.get(provider)
    return breaker is not None and breaker.until is not None


def has_rejected(state: State, provider: str) -> bool:
    """It is closed, and will be until somebody logs in or pays."""
    return is_closed(state, provider) and state.breakers[provider].rejected


def _open(state: State, refusal: Refusal) -> BreakerOpened:
    breaker = state.breakers.get(refusal.provider) or Breaker()
    spread = chance(int(refusal.at), refusal.provider, breaker.streak)
    least = AGAIN.delay(breaker.streak, spread) if breaker.streak else 0.0
    until = refusal.at + min(max(_wait(refusal, breaker, spread), least), LONGEST)
    limit = _limit(state, refusal, breaker)
    return BreakerOpened(refusal.provider, until, limit, _why(refusal), refusal.rejected)


def _wait(refusal: Refusal, breaker: Breaker, spread: float) -> float:
    if refusal.rejected:
        return REJECTED.delay(breaker.streak + 1, spread)
    if refusal.until is not None:
        return refusal.until - refusal.at
    lasted = refusal.at - breaker.since if breaker.streak else 0.0
    return max(UNSAID.delay(breaker.streak + 1, spread), SHARE * lasted)


def _why(refusal: Refusal) -> str:
    if refusal.rejected:
        return "somebody has to log in there, or to pay"
    return "the provider refused" + ("" if refusal.until else " without saying until when")


def _limit(state: State, refusal: Refusal, breaker: Breaker) -> int:
    """Halve once per refusal of the provider, not once per attempt that met the same refusal. Where nobody knows whether
    it takes work again, one is enough to find out.
    """
    if breaker.limit is not None and refusal.began < breaker.opened_at:
        return breaker.limit
    if refusal.until is None:
        return 1
    at_work = state.providers.get(refusal.provider, 0) + 1
    return max(1, min(at_work, breaker.limit or at_work) // 2)
