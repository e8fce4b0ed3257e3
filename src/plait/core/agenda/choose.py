"""Which ready task of a batch goes next, and to which agent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce

from plait.core.agenda.breaker import allows
from plait.core.ready import Entry, Lane
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
    """The first task of each lane that some agent could take now, best first; money is not looked at."""
    heads = sorted(state.ready.heads(batch.id), key=_by_key)
    for entry in heads[:1] if batch.settings.mode is Mode.QUEUE else heads:
        task = batch.tasks[entry.ref[1]]
        agent = _agent(state, batch, entry.lane)
        if agent is not None and _turn(batch, task):
            yield Choice(task, agent, reserve(state, batch, agent))


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


def _agent(state: State, batch: BatchState, lane: Lane) -> str | None:
    """Of the agents that may take one more, the least busy one; then the one used least; then the first named."""
    free = [agent for agent in lane[1] if _has_room(state, batch, agent)]
    if not free:
        return None
    return min(free, key=lambda agent: (state.agents.get(agent, 0), batch.agents_used.get(agent, 0)))


def _has_room(state: State, batch: BatchState, agent: str) -> bool:
    limit = state.settings.agent_limit(agent)
    free = not limit or state.agents.get(agent, 0) < limit
    return free and allows(state, batch.settings.provider(agent))


def _turn(batch: BatchState, task: TaskState) -> bool:
    """In a queue, one task at a time, each with a person's approval."""
    if batch.settings.mode is not Mode.QUEUE or task.started:
        return True
    return batch.active == 0 and (task.approved or batch.settings.auto_approve)
