"""Which agents may take a task, and what an attempt may cost."""

from __future__ import annotations

from plait.core.settings import NO_SPEND, Settings, Spend
from plait.core.status import Category
from tests.support.laws.facts import BatchFacts, Facts, TaskFacts, UnjudgedExit

REJECTION_CATEGORIES = frozenset({Category.AUTH, Category.QUOTA})


def own_agents(batch: BatchFacts, task: TaskFacts) -> tuple[str, ...]:
    return task.agents or ((task.spec.agent,) if task.spec.agent else batch.settings.agents)


def fallback_agents(facts: Facts, batch: BatchFacts, task: TaskFacts) -> tuple[str, ...]:
    """Fallback agents don't replace an agent that is only busy, and aren't used in contests."""
    providers = [facts.providers.get(batch.settings.provider(agent)) for agent in own_agents(batch, task)]
    closed = all(provider is not None and provider.until is not None for provider in providers)
    return batch.settings.fallback if closed and not _is_contested(task) else ()


def find_available_agents(facts: Facts, batch: BatchFacts, task: TaskFacts) -> list[str]:
    """The agents that may take one more attempt."""
    return [agent for agent in own_agents(batch, task) if _has_capacity(facts, batch, agent)] or [
        agent for agent in fallback_agents(facts, batch, task) if _has_capacity(facts, batch, agent)
    ]


def _has_capacity(facts: Facts, batch: BatchFacts, agent: str) -> bool:
    limit = facts.settings.agent_limit(agent)
    if limit and facts.agents.get(agent, 0) >= limit:
        return False
    provider = batch.settings.provider(agent)
    known = facts.providers.get(provider)
    if known is None:
        return True
    return known.until is None and (known.limit is None or facts.provider_load.get(provider, 0) < known.limit)


def has_other_provider(facts: Facts, batch: BatchFacts, task: TaskFacts, found: UnjudgedExit) -> bool:
    """A provider rejected it, and another provider for it rejects nothing."""
    settings = batch.settings
    if found.outcome.category not in REJECTION_CATEGORIES or not settings.fallback or _is_contested(task):
        return False
    agents = (*own_agents(batch, task), *settings.fallback)
    others = {settings.provider(agent) for agent in agents} - {found.attempt.order.provider}
    known = [facts.providers.get(other) for other in others]
    return any(other is None or other.until is None or not other.rejected for other in known)


def _is_contested(task: TaskFacts) -> bool:
    return task.spec.entrant is not None or bool(task.entrants)


RECENT_SPENDS, ENOUGH_SPENDS = 20, 3


def expected_cost(facts: Facts, batch: BatchFacts, agent: str) -> Spend:
    settings = batch.settings
    if settings.budget is None and settings.task_budget is None:
        return NO_SPEND
    known = facts.agent_spends.get(agent, [])[-RECENT_SPENDS:]
    most = Spend(max((s.microusd for s in known), default=0), max((s.tokens for s in known), default=0))
    return most if len(known) >= ENOUGH_SPENDS else most.at_least(settings.reserve or _guess_cost(settings))


def _guess_cost(settings: Settings) -> Spend:
    bounds = [(settings.budget, 10), (settings.task_budget, 3)]
    money = [b.microusd // parts for b, parts in bounds if b is not None and b.microusd is not None]
    tokens = [b.tokens // parts for b, parts in bounds if b is not None and b.tokens is not None]
    return Spend(min(money, default=0), min(tokens, default=0))


def fits_task_budget(batch: BatchFacts, task: TaskFacts, cost: Spend) -> bool:
    """The task's own budget allows it; the budget restarts when a person approves more."""
    own = batch.settings.task_budget
    return own is None or own.allows(task.spent - task.uncounted_spend + cost)
