"""Never more than the limits: slots, agents, files and groups, providers, money."""

from __future__ import annotations

from plait.core.decisions import AttemptStarted
from plait.core.settings import NO_SPEND, Spend
from plait.core.task import Step
from plait.testing.laws.eligibility import fallback_agents, own_agents
from plait.testing.laws.eligibility__purse import expected_cost, fits_task_budget
from plait.testing.laws.facts import BatchFacts
from plait.testing.laws.facts__book import Facts


def check_slots(book: Facts, _at: float, event: AttemptStarted) -> None:
    batch = book.batch(event.attempt.batch)
    page = batch.tasks[event.attempt.task]
    limits = [limit for limit in (book.settings.parallel_limit, batch.settings.max_parallel) if limit]
    if event.slots != min([max(1, page.spec.slots), *limits]):
        raise book.violation("slots", f"{event.attempt} counts as {event.slots} slots", page)
    for used, limit in (
        (book.slots, book.settings.parallel_limit),
        (batch.slots, batch.settings.max_parallel),
    ):
        if limit and used + event.slots > limit:
            message = f"{event.attempt} took {event.slots} slots with {used} of {limit} in use"
            raise book.violation("slots", message, page)


def check_capacity(book: Facts, _at: float, event: AttemptStarted) -> None:
    """A room of at least one slot takes anybody who is alone in it."""
    if (
        book.capacity is None
        or book.slots + event.slots <= book.capacity
        or (book.capacity >= 1 and not book.alive)
    ):
        return
    message = (
        f"{event.attempt} took {event.slots} slots with {book.slots} in use and room for {book.capacity}"
    )
    raise book.violation("room", message, book.task(event.attempt.batch, event.attempt.task))


def check_agent_limit(book: Facts, _at: float, event: AttemptStarted) -> None:
    if event.attempt.step is not Step.WRITE:
        return
    batch = book.batch(event.attempt.batch)
    page = batch.tasks[event.attempt.task]
    chosen = (*own_agents(batch, page), *fallback_agents(book, batch, page))
    if event.agent not in chosen or event.provider != batch.settings.provider(event.agent):
        raise book.violation(
            "agent", f"{event.attempt} was given to {event.agent}, not to one of {chosen}", page
        )
    limit = book.settings.agent_limit(event.agent)
    if limit and book.agents.get(event.agent, 0) >= limit:
        raise book.violation(
            "agent-limit", f"{event.attempt} is one too many for {event.agent} ({limit})", page
        )


def check_timeouts(book: Facts, _at: float, event: AttemptStarted) -> None:
    """The time it is given is the time that was set."""
    batch = book.batch(event.attempt.batch)
    page = batch.tasks[event.attempt.task]
    settings = batch.settings
    if event.attempt.step is Step.WRITE:
        given = (page.spec.timeout or settings.timeout, settings.idle_timeout)
    else:
        given = (settings.verify_timeout, settings.verify_timeout)
        if event.command != batch.verify_command(page):
            raise book.violation(
                "step", f"{event.attempt} runs {event.command}, not {batch.verify_command(page)}", page
            )
    if (event.timeout, event.idle_timeout) != given:
        raise book.violation("timeout", f"{event.attempt} got {event.timeout}s, {given[0]}s was set", page)


def check_locks(book: Facts, _at: float, event: AttemptStarted) -> None:
    page = book.task(event.attempt.batch, event.attempt.task)
    me = (event.attempt.batch, event.attempt.task)
    for token in page.locks:
        holder = book.lock_holders.get(token, me)
        if holder != me:
            raise book.violation("holds", f"{event.attempt} started while {holder} holds {token}", page)


def check_provider_limit(book: Facts, _at: float, event: AttemptStarted) -> None:
    page = book.providers.get(event.provider)
    if event.attempt.step is not Step.WRITE or page is None:
        return
    task = book.task(event.attempt.batch, event.attempt.task)
    if page.until is not None or page.refuses_until is not None:
        raise book.violation("breaker", f"{event.attempt} started while {event.provider} refuses", task)
    if page.limit is not None and book.provider_load.get(event.provider, 0) >= page.limit:
        raise book.violation("provider-limit", f"{event.attempt} is one too many for {event.provider}", task)


def check_budget(book: Facts, _at: float, event: AttemptStarted) -> None:
    batch = book.batch(event.attempt.batch)
    if event.attempt.step is not Step.WRITE:
        return
    total = batch.spent + sum_claims(batch) + event.reserve
    page = batch.tasks[event.attempt.task]
    if batch.settings.budget is not None and not batch.settings.budget.allows(total):
        raise book.violation(
            "budget", f"{event.attempt} may bring {total} out of {batch.settings.budget}", page
        )
    if not fits_task_budget(batch, page, event.reserve):
        message = f"{event.attempt} may cost {event.reserve} after {page.spent - page.uncounted_spend}"
        raise book.violation("task-budget", f"{message}, of {batch.settings.task_budget}", page)
    wanted = expected_cost(book, batch, event.agent)
    if event.reserve != wanted:
        raise book.violation("budget", f"{event.attempt} reserves {event.reserve}, not {wanted}", page)


def sum_claims(batch: BatchFacts) -> Spend:
    return sum((alive.claim for alive in batch.alive if alive.order.attempt.step is Step.WRITE), NO_SPEND)
