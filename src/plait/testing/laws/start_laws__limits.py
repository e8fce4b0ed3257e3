"""Never more than the limits: slots, agents, files and groups, providers, money."""

from __future__ import annotations

from plait.core.decisions import AttemptStarted
from plait.core.settings import NO_SPEND, Spend
from plait.core.task import Step
from plait.testing.laws.eligibility import own, stand_ins
from plait.testing.laws.eligibility__purse import reserve, within_own
from plait.testing.laws.facts import BatchPage
from plait.testing.laws.facts__book import Book


def within_slots(book: Book, _at: float, event: AttemptStarted) -> None:
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


def within_room(book: Book, _at: float, event: AttemptStarted) -> None:
    """A room of at least one slot takes anybody who is alone in it."""
    if book.room is None or book.slots + event.slots <= book.room or (book.room >= 1 and not book.alive):
        return
    message = f"{event.attempt} took {event.slots} slots with {book.slots} in use and room for {book.room}"
    raise book.violation("room", message, book.task(event.attempt.batch, event.attempt.task))


def within_agents(book: Book, _at: float, event: AttemptStarted) -> None:
    if event.attempt.step is not Step.WRITE:
        return
    batch = book.batch(event.attempt.batch)
    page = batch.tasks[event.attempt.task]
    chosen = (*own(batch, page), *stand_ins(book, batch, page))
    if event.agent not in chosen or event.provider != batch.settings.provider(event.agent):
        raise book.violation(
            "agent", f"{event.attempt} was given to {event.agent}, not to one of {chosen}", page
        )
    limit = book.settings.agent_limit(event.agent)
    if limit and book.agents.get(event.agent, 0) >= limit:
        raise book.violation(
            "agent-limit", f"{event.attempt} is one too many for {event.agent} ({limit})", page
        )


def within_timeouts(book: Book, _at: float, event: AttemptStarted) -> None:
    """The time it is given is the time that was set."""
    batch = book.batch(event.attempt.batch)
    page = batch.tasks[event.attempt.task]
    settings = batch.settings
    if event.attempt.step is Step.WRITE:
        given = (page.spec.timeout or settings.timeout, settings.idle_timeout)
    else:
        given = (settings.verify_timeout, settings.verify_timeout)
        if event.command != batch.check(page):
            raise book.violation(
                "step", f"{event.attempt} runs {event.command}, not {batch.check(page)}", page
            )
    if (event.timeout, event.idle_timeout) != given:
        raise book.violation("timeout", f"{event.attempt} got {event.timeout}s, {given[0]}s was set", page)


def within_holds(book: Book, _at: float, event: AttemptStarted) -> None:
    page = book.task(event.attempt.batch, event.attempt.task)
    me = (event.attempt.batch, event.attempt.task)
    for token in page.tokens:
        holder = book.holders.get(token, me)
        if holder != me:
            raise book.violation("holds", f"{event.attempt} started while {holder} holds {token}", page)


def within_provider(book: Book, _at: float, event: AttemptStarted) -> None:
    page = book.providers.get(event.provider)
    if event.attempt.step is not Step.WRITE or page is None:
        return
    task = book.task(event.attempt.batch, event.attempt.task)
    if page.until is not None or page.said is not None:
        raise book.violation("breaker", f"{event.attempt} started while {event.provider} refuses", task)
    if page.limit is not None and book.at_work.get(event.provider, 0) >= page.limit:
        raise book.violation("provider-limit", f"{event.attempt} is one too many for {event.provider}", task)


def within_budget(book: Book, _at: float, event: AttemptStarted) -> None:
    batch = book.batch(event.attempt.batch)
    if event.attempt.step is not Step.WRITE:
        return
    total = batch.spent + claims(batch) + event.reserve
    page = batch.tasks[event.attempt.task]
    if batch.settings.budget is not None and not batch.settings.budget.allows(total):
        raise book.violation(
            "budget", f"{event.attempt} may bring {total} out of {batch.settings.budget}", page
        )
    if not within_own(batch, page, event.reserve):
        message = f"{event.attempt} may cost {event.reserve} after {page.spent - page.agreed}"
        raise book.violation("task-budget", f"{message}, of {batch.settings.task_budget}", page)
    wanted = reserve(book, batch, event.agent)
    if event.reserve != wanted:
        raise book.violation("budget", f"{event.attempt} reserves {event.reserve}, not {wanted}", page)


def claims(batch: BatchPage) -> Spend:
    return sum((alive.claim for alive in batch.alive if alive.order.attempt.step is Step.WRITE), NO_SPEND)
