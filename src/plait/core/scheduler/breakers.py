"""Rate limits: a provider that refuses gets no work until its reset time, then half as many attempts at a time, then more.

A provider that rejects one task after another (not logged in, no quota) would reject the rest too: the batch is paused.
So is a batch that waits for nothing but providers that have refused everything for hours: a person may know better.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.decisions import BatchPaused, BreakerClosed, BreakerOpened, Decision, Due, LimitRaised
from plait.core.retry_policy import MAX_REJECTIONS, jitter
from plait.core.settings import Backoff
from plait.core.state import BatchState, Breaker, Refusal, State, TaskState
from plait.core.status import NextAction, PauseCause
from plait.core.task import Step

# For providers that give no reset time: a minute, then longer, up to ten; in an outage of hours a share of its length, so
# that little time is lost whenever it ends.
DEFAULT_BACKOFF = Backoff(base=60.0, factor=2.0, cap=600.0, jitter=0.1)
OUTAGE_SHARE = 0.04

# Until a person logs in or pays, trying again is useless.
REJECTED_BACKOFF = Backoff(base=3600.0, factor=2.0, cap=8 * 3600.0, jitter=0.1)

# A provider that refuses repeatedly is not tried at once, whatever reset time it gives.
REPEAT_BACKOFF = Backoff(base=5.0, factor=2.0, cap=600.0, jitter=0.1)
MAX_BREAKER_SECONDS = 8 * 86_400.0

# A rate limit that keeps recurring asks a person: after this many refusals in a row, and this long without any work done.
# Without reset times the limit may be per five hours; with them, the provider's times are wrong.
RECURRING_REFUSALS = 8
RECURRING_SECONDS = 3600.0
RECURRING_SECONDS_WITHOUT_RESET = 6 * 3600.0


def schedule_breaker_changes(state: State) -> Iterator[Decision]:
    for refusal in state.refusals:
        yield _open_breaker(state, refusal)
    for provider, breaker in state.breakers.items():
        if breaker.retry_requested and (breaker.rejected or breaker.unserved >= RECURRING_REFUSALS):
            yield BreakerClosed(provider)
        if breaker.credit and breaker.until is None and breaker.limit is not None:
            raised = breaker.limit + 1
            yield LimitRaised(provider, raised if raised < breaker.peak_attempts else None)


def schedule_breaker_closings(state: State) -> Iterator[Due]:
    for at, provider in state.breaker_closings:
        yield Due(at, BreakerClosed(provider))


def why_provider_unavailable(state: State, provider: str) -> str | None:
    """Say why no attempt may start with this provider now; None if one may."""
    breaker = state.breakers.get(provider)
    if breaker is None:
        return None
    if breaker.until is not None:
        return f"{provider} {'rejects requests' if breaker.rejected else 'is rate-limited'} ({breaker.why})"
    if breaker.limit is not None and state.providers.get(provider, 0) >= breaker.limit:
        return f"{provider} is limited to {breaker.limit} at a time since its last refusal"
    return None


def is_provider_refusing(state: State, provider: str) -> bool:
    """Whether the provider gets no work at all until a known time."""
    breaker = state.breakers.get(provider)
    return breaker is not None and breaker.until is not None


def is_provider_rejecting(state: State, provider: str) -> bool:
    """Whether the provider gets no work until a person logs in or pays."""
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
    outage = refusal.at - breaker.since if breaker.streak else 0.0
    return max(DEFAULT_BACKOFF.delay(breaker.streak + 1, spread), OUTAGE_SHARE * outage)


def _why_opened(refusal: Refusal) -> str:
    if refusal.rejected:
        return "log in to the provider or check its billing"
    return "the provider refused" + ("" if refusal.until else " without a reset time")


def _lower_limit(state: State, refusal: Refusal, breaker: Breaker) -> int:
    """Return how many attempts at once the provider gets next. Halve once per refusal of the provider, not once per
    refused attempt. Without a reset time, one attempt is enough to find out whether it accepts work again.
    """
    if breaker.limit is not None and refusal.began < breaker.opened_at:
        return breaker.limit
    if refusal.until is None:
        return 1
    running = state.providers.get(refusal.provider, 0) + 1
    return max(1, min(running, breaker.limit or running) // 2)


def schedule_auth_pauses(state: State) -> Iterator[Decision]:
    for batch in state.open.values():
        if batch.rejections >= MAX_REJECTIONS and batch.paused is None and any(state.start_queue.heads(batch.id)):
            why = f"the provider rejected {batch.rejections} tasks in a row: fix the cause and resume"
            yield BatchPaused(batch.id, PauseCause.PROVIDER, why)


def schedule_limit_pauses(state: State) -> Iterator[Decision]:
    """Pause batches in which everything that could run waits for a rate limit that keeps recurring."""
    recurring = {provider for provider, breaker in state.breakers.items() if _is_recurring(breaker)}
    for batch in state.open.values() if recurring else ():
        if batch.paused is None and _waits_only_for(state, batch, recurring):
            refusing = [provider for provider in _list_providers(state, batch) if provider in recurring]
            yield BatchPaused(batch.id, PauseCause.PROVIDER, _describe_recurring(state, refusing[0]))


def _is_recurring(breaker: Breaker) -> bool:
    if breaker.rejected or breaker.until is None or breaker.unserved < RECURRING_REFUSALS:
        return False
    least = RECURRING_SECONDS if breaker.has_reset_time else RECURRING_SECONDS_WITHOUT_RESET
    return breaker.opened_at - breaker.unserved_since >= least


def _waits_only_for(state: State, batch: BatchState, providers: set[str]) -> bool:
    if batch.alive or batch.merging is not None or batch.gate is not None:
        return False
    if batch.tasks_by_action[NextAction.VERIFY] or batch.tasks_by_action[NextAction.MERGE]:
        return False
    used = _list_providers(state, batch)
    return bool(used) and providers.issuperset(used)


def _list_providers(state: State, batch: BatchState) -> list[str]:
    """List the providers that could take what is ready or waits to be retried; "" stands for a merge that is retried."""
    ready = [batch.tasks[entry.index] for entry in state.start_queue.heads(batch.id)]
    retried = [batch.tasks[index] for _, name, index in state.backoffs if name == batch.id]
    return [provider for task in (*ready, *retried) for provider in _list_task_providers(batch, task)]


def _list_task_providers(batch: BatchState, task: TaskState) -> list[str]:
    if task.step is not Step.WRITE:
        return [""]
    fallback = () if task.queue_key.is_contest else batch.settings.fallback
    return [batch.settings.provider(agent) for agent in (*task.queue_key.agents, *fallback)]


def _describe_recurring(state: State, provider: str) -> str:
    breaker = state.breakers[provider]
    hours = (breaker.opened_at - breaker.unserved_since) / 3600
    return (
        f"{provider} has refused {breaker.unserved} times in a row and done no work for {hours:.0f}h: "
        "check your plan's limits, or use another agent, and resume"
    )
