"""Who may take a task: its own agents, and while the providers of all of them refuse, those who stand in for them."""

from __future__ import annotations

from plait.core.status import Category
from plait.testing.laws.facts import BatchPage, Exit, TaskPage
from plait.testing.laws.facts__book import Book

REJECTED = frozenset({Category.AUTH, Category.QUOTA})


def own(batch: BatchPage, page: TaskPage) -> tuple[str, ...]:
    return page.agents or ((page.spec.agent,) if page.spec.agent else batch.settings.agents)


def stand_ins(book: Book, batch: BatchPage, page: TaskPage) -> tuple[str, ...]:
    """Nobody stands in for who is only busy, nor in a contest."""
    providers = [book.providers.get(batch.settings.provider(agent)) for agent in own(batch, page)]
    closed = all(provider is not None and provider.until is not None for provider in providers)
    return batch.settings.fallback if closed and not _contest(page) else ()


def able(book: Book, batch: BatchPage, page: TaskPage) -> list[str]:
    """Those who have room for one more attempt."""
    return [agent for agent in own(batch, page) if _has_capacity(book, batch, agent)] or [
        agent for agent in stand_ins(book, batch, page) if _has_capacity(book, batch, agent)
    ]


def _has_capacity(book: Book, batch: BatchPage, agent: str) -> bool:
    limit = book.settings.agent_limit(agent)
    if limit and book.agents.get(agent, 0) >= limit:
        return False
    provider = batch.settings.provider(agent)
    page = book.providers.get(provider)
    if page is None:
        return True
    return page.until is None and (page.limit is None or book.at_work.get(provider, 0) < page.limit)


def elsewhere(book: Book, batch: BatchPage, page: TaskPage, found: Exit) -> bool:
    """A provider rejected it, and there is another one for it that has rejected nobody."""
    settings = batch.settings
    if found.outcome.category not in REJECTED or not settings.fallback or _contest(page):
        return False
    agents = (*own(batch, page), *settings.fallback)
    others = {settings.provider(agent) for agent in agents} - {found.attempt.order.provider}
    known = [book.providers.get(other) for other in others]
    return any(other is None or other.until is None or not other.rejected for other in known)


def _contest(page: TaskPage) -> bool:
    return page.spec.entrant is not None or bool(page.entrants)
