"""Which ready task of a batch goes next, and to which agent."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from plait.core.agenda.breaker import why_closed
from plait.core.frozen import dataclass
from plait.core.ready import Entry
from plait.core.settings import NO_SPEND, Mode, Spend
from plait.core.state import BatchState, State, TaskState

SHARES = 10  # without history, an attempt is taken to cost a tenth of the budget
ENOUGH = 3  # so many attempts are a history


@dataclass(frozen=True, slots=True)
class Choice:
    task: TaskState
    agent: str
    reserve: Spend


def choices(state: State, batch: BatchState) -> Iterator[Choice]:
    """The first task of each lane that some agent could take now, best first, whether it can be paid for or not."""
    heads = sorted(state.ready.heads(batch.id), key=_by_key)
    for entry in heads[:1] if batch.settings.mode is Mode.QUEUE else heads:
        task = batch.tasks[entry.ref[1]]
        if _turn(batch, task):
            free = [agent for agent in entry.lane[1] if why_busy(state, batch, agent) is None]
            offers = [Choice(task, agent, reserve(state, batch, agent)) for agent in free]
            yield from _best(state, batch, offers)


def affordable(batch: BatchState, choice: Choice) -> bool:
    budget = batch.settings.budget
    return budget is None or budget.allows(batch.spent + batch.claims + choice.reserve)


def reserve(state: State, batch: BatchState, agent: str) -> Spend:
    """What an attempt may cost: the most its agent took lately, else what the settings or the budget suggest."""
    budget = batch.settings.budget
    if budget is None:
        return NO_SPEND
    known = state.experience.get(agent)
    spends = known.spends if known is not None else ()
    prior = (batch.settings.reserve or budget.share(SHARES)) if len(spends) < ENOUGH else NO_SPEND
    return reduce(Spend.at_least, spends, prior)


def _by_key(entry: Entry) -> tuple[int, int, float, int]:
    return entry.key


def _best(state: State, batch: BatchState, offers: list[Choice]) -> list[Choice]:
    """The one that can be paid for; of several the least busy agent, then the one used least, then the first named."""

    def order(offer: Choice) -> tuple[bool, int, int]:
        busy, used = state.agents.get(offer.agent, 0), batch.agents_used.get(offer.agent, 0)
        return (not affordable(batch, offer), busy, used)

    return [min(offers, key=order)] if offers else []


def why_busy(state: State, batch: BatchState, agent: str) -> str | None:
    """Why this agent can't take one more attempt now; None when it can."""
    provider = batch.settings.provider(agent)
    refused = why_closed(state, provider)
    if refused is not None:
        return refused
    limit = state.settings.agent_limit(agent)
    if limit and state.agents.get(agent, 0) >= limit:
        return f"{agent} is busy ({limit} of {limit} at work)"
    return None


def _turn(batch: BatchState, task: TaskState) -> bool:
    """In a queue, one task at a time, each with a person's approval."""
    if batch.settings.mode is not Mode.QUEUE or task.started:
        return True
    return not batch.active and (task.approved or batch.settings.auto_approve)
