"""What attempts may cost: the most that their agent took lately, and as long as little is known of it, a guess."""

from __future__ import annotations

from plait.core.settings import NO_SPEND, Settings, Spend
from plait.testing.laws.facts import BatchFacts, TaskFacts
from plait.testing.laws.facts__book import Facts

RECENT_SPENDS, ENOUGH_SPENDS = 20, 3


def expected_cost(book: Facts, batch: BatchFacts, agent: str) -> Spend:
    settings = batch.settings
    if settings.budget is None and settings.task_budget is None:
        return NO_SPEND
    known = book.agent_spends.get(agent, [])[-RECENT_SPENDS:]
    most = Spend(max((s.microusd for s in known), default=0), max((s.tokens for s in known), default=0))
    return most if len(known) >= ENOUGH_SPENDS else most.at_least(settings.reserve or _guess_cost(settings))


def _guess_cost(settings: Settings) -> Spend:
    bounds = [(settings.budget, 10), (settings.task_budget, 3)]
    money = [b.microusd // parts for b, parts in bounds if b is not None and b.microusd is not None]
    tokens = [b.tokens // parts for b, parts in bounds if b is not None and b.tokens is not None]
    return Spend(min(money, default=0), min(tokens, default=0))


def fits_task_budget(batch: BatchFacts, page: TaskFacts, cost: Spend) -> bool:
    """The task's own budget allows it; that counts anew from where a person agreed to more."""
    own = batch.settings.task_budget
    return own is None or own.allows(page.spent - page.uncounted_spend + cost)
