"""Who may take a task: its own agents, and while the providers of all of them refuse, those who stand in for them."""

from __future__ import annotations

from plait.core.status import Category
from plait.testing.laws.facts import BatchFacts, TaskFacts, UnjudgedExit
from plait.testing.laws.facts__book import Facts

REJECTION_CATEGORIES = frozenset({Category.AUTH, Category.QUOTA})


def own_agents(batch: BatchFacts, page: TaskFacts) -> tuple[str, ...]:
    return page.agents or ((page.spec.agent,) if page.spec.agent else batch.settings.agents)


def fallback_agents(book: Facts, batch: BatchFacts, page: TaskFacts) -> tuple[str, ...]:
    """Nobody stands in for who is only busy, nor in a contest."""
    providers = [book.providers.get(batch.settings.provider(agent)) for agent in own_agents(batch, page)]
    closed = all(provider is not None and provider.until is not None for provider in providers)
    return batch.settings.fallback if closed and not _is_contested(page) else ()


def find_available_agents(book: Facts, batch: BatchFacts, page: TaskFacts) -> list[str]:
    """Those who have room for one more attempt."""
    return [agent for agent in own_agents(batch, page) if _has_capacity(book, batch, agent)] or [
        agent for agent in fallback_agents(book, batch, page) if _has_capacity(book, batch, agent)
    ]


def _has_capacity(book: Facts, batch: BatchFacts, agent: str) -> bool:
    limit = book.settings.agent_limit(agent)
    if limit and book.agents.get(agent, 0) >= limit:
        return False
    provider = batch.settings.provider(agent)
    page = book.providers.get(provider)
    if page is None:
        return True
    return page.until is None and (page.limit is None or book.provider_load.get(provider, 0) < page.limit)


def has_other_provider(book: Facts, batch: BatchFacts, page: TaskFacts, found: UnjudgedExit) -> bool:
    """A provider rejected it, and there is another one for it that has rejected nobody."""
    settings = batch.settings
    if found.outcome.category not in REJECTION_CATEGORIES or not settings.fallback or _is_contested(page):
        return False
    agents = (*own_agents(batch, page), *settings.fallback)
    others = {settings.provider(agent) for agent in agents} - {found.attempt.order.provider}
    known = [book.providers.get(other) for other in others]
    return any(other is None or other.until is None or not other.rejected for other in known)


def _is_contested(page: TaskFacts) -> bool:
    return page.spec.entrant is not None or bool(page.entrants)
