"""A provider that refuses is left alone until it said, then tried with half as many at once, then with more again.

A provider that rejects one task after another (not logged in, nothing left to pay with) rejects the rest too: ask.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.decisions import BatchPaused, BreakerClosed, BreakerOpened, Due, LimitRaised, due_now
from plait.core.retry_policy import MAX_REJECTIONS, jitter
from plait.core.settings import Backoff
from plait.core.state import Breaker, Refusal, State
from plait.core.status import PauseCause

# For providers that refuse without saying until when: a minute, then longer, up to ten; and when it goes on for hours,
# a share of the time that it has lasted, so that little of the night is lost whenever it ends.
DEFAULT_BACKOFF = Backoff(base=60.0, factor=2.0, cap=600.0, jitter=0.1)
OUTAGE_SHARE = 0.04

# Where somebody has to log in or to pay, nothing changes soon.
REJECTED_BACKOFF = Backoff(base=3600.0, factor=2.0, cap=8 * 3600.0, jitter=0.1)

# Who refuses again and again is not believed to be ready at once, whatever it says, nor never again.
REPEAT_BACKOFF = Backoff(base=5.0, factor=2.0, cap=600.0, jitter=0.1)
MAX_BREAKER_SECONDS = 8 * 86_400.0


def schedule_breaker_changes(state: State) -> Iterator[Due]:
    for refusal in state.refusals:
        yield due_now(_open_breaker(state, refusal))
    for provider, breaker in state.breakers.items():
        if breaker.retry_requested:
            yield due_now(BreakerClosed(provider))
        if breaker.credit and breaker.until is None and breaker.limit is not None:
            raised = breaker.limit + 1
            yield due_now(LimitRaised(provider, raised if raised < breaker.peak_attempts else None))


def schedule_breaker_closings(state: State) -> Iterator[Due]:
    for at, provider in state.breaker_closings:
        yield Due(at, BreakerClosed(provider))


def why_provider_unavailable(state: State, provider: str) -> str | None:
    """Why nothing may be started with this provider now; None when something may."""
    breaker = state.breakers.get(provider)
    if breaker is None:
        return None
    if breaker.until is not None:
        return f"{provider} takes no more work for now ({breaker.why})"
    if breaker.limit is not None and state.providers.get(provider, 0) >= breaker.limit:
        return f"{provider} is given {breaker.limit} at once since its last refusal"
    return None


def is_provider_refusing(state: State, provider: str) -> bool:
    """It takes no work at all, until an instant that is known; who is only busy is not closed."""
    breaker = state.breakers.get(provider)
    return breaker is not None and breaker.until is not None


def is_provider_rejecting(state: State, provider: str) -> bool:
    """It is closed, and will be until somebody logs in or pays."""
    return is_provider_refusing(state, provider) and state.breakers[provider].rejected


def _open_breaker(state: State, refusal: Refusal) -> BreakerOpened:
    breaker = state.breakers.get(refusal.provider) or Breaker()
    spread = jitter(int(refusal.at), refusal.provider, breaker.streak)
    least = REPEAT_BACKOFF.delay(breaker.streak, spread) if breaker.streak else 0.0
    until = refusal.at + min(max(_wait_seconds(refusal, breaker, spread), least), MAX_BREAKER_SECONDS)
    limit = _lower_limit(state, refusal, breaker)
    return BreakerOpened(refusal.provider, until, limit, _why_opened(refusal), refusal.rejected)


def _wait_seconds(refusal: Refusal, breaker: Breaker, spread: float) -> float:
    if refusal.rejected:
        return REJECTED_BACKOFF.delay(breaker.streak + 1, spread)
    if refusal.until is not None:
        return refusal.until - refusal.at
    lasted = refusal.at - breaker.since if breaker.streak else 0.0
    return max(DEFAULT_BACKOFF.delay(breaker.streak + 1, spread), OUTAGE_SHARE * lasted)


def _why_opened(refusal: Refusal) -> str:
    if refusal.rejected:
        return "somebody has to log in there, or to pay"
    return "the provider refused" + ("" if refusal.until else " without saying until when")


def _lower_limit(state: State, refusal: Refusal, breaker: Breaker) -> int:
    """Halve once per refusal of the provider, not once per attempt that met the same refusal. Where nobody knows whether
    it takes work again, one is enough to find out.
    """
    if breaker.limit is not None and refusal.began < breaker.opened_at:
        return breaker.limit
    if refusal.until is None:
        return 1
    at_work = state.providers.get(refusal.provider, 0) + 1
    return max(1, min(at_work, breaker.limit or at_work) // 2)


def schedule_auth_pauses(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        if batch.rejections >= MAX_REJECTIONS and batch.paused is None and any(state.start_queue.heads(batch.id)):
            why = f"{batch.rejections} tasks in a row were rejected by the provider: see why, mend it, and resume"
            yield due_now(BatchPaused(batch.id, PauseCause.PROVIDER, why))
