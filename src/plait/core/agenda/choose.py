"""Which ready task of a batch goes next, and to which agent."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from plait.core.agenda.breaker import has_rejected, is_closed, why_closed
from plait.core.frozen import dataclass
from plait.core.ready import Entry
from plait.core.settings import NO_SPEND, Budget, Mode, Settings, Spend
from plait.core.state import BatchState, State, TaskState

SHARES = 10  # without history, an attempt is taken to cost a tenth of the batch's budget
TRIES = 3  # and a third of the task's own, if that is less
ENOUGH = 3  # so many attempts are a history


@dataclass(frozen=True, slots=True)
class Choice:
    task: TaskState
    agent: str
    reserve: Spend


def choices(state: State, batch: BatchState) -> Iterator[Choice]:
    """The first task of each lane that some agent could take now, best first, whether it can be paid for or not.

    Those who stand in are taken in the order in which they are named.
    """
    for task in heads(state, batch):
        own = _offers(state, batch, task, task.lane[1])
        if own:
            yield _best(state, batch, own)
        elif others := _offers(state, batch, task, fallback(state, batch, task)):
            yield min(others, key=lambda one: (not within_own(batch, one), not affordable(batch, one)))


def heads(state: State, batch: BatchState) -> Iterator[TaskState]:
    """The first task of each lane whose turn it is, best first."""
    entries = sorted(state.ready.heads(batch.id), key=_by_key)
    for entry in entries[:1] if batch.settings.mode is Mode.QUEUE else entries:
        task = batch.tasks[entry.ref[1]]
        if _turn(batch, task):
            yield task


def fallback(state: State, batch: BatchState, task: TaskState) -> tuple[str, ...]:
    """Who may take the task in the place of its own agents: nobody, unless the providers of all of these are closed.
    What is part of a contest is done by whom it was meant for.
    """
    settings, own = batch.settings, task.lane[1]
    if not settings.fallback or task.lane[2]:
        return ()
    if not all(is_closed(state, settings.provider(agent)) for agent in own):
        return ()
    return tuple(agent for agent in settings.fallback if agent not in own)


def elsewhere(state: State, batch: BatchState, task: TaskState, provider: str) -> bool:
    """Whether somebody else can take what this provider rejected: fallback was asked for, and others rejected nobody."""
    settings = batch.settings
    if not settings.fallback or task.lane[2]:
        return False
    able = {settings.provider(agent) for agent in (*task.lane[1], *settings.fallback)} - {provider}
    return any(not has_rejected(state, other) for other in able)


def offer(state: State, batch: BatchState, task: TaskState, agent: str) -> Choice:
    return Choice(task, agent, reserve(state, batch, agent))


def affordable(batch: BatchState, choice: Choice) -> bool:
    budget = batch.settings.budget
    within = budget is None or budget.allows(batch.spent + batch.claims + choice.reserve)
    return within and within_own(batch, choice)


def within_own(batch: BatchState, choice: Choice) -> bool:
    """Whether the task's own budget allows it."""
    own = batch.settings.task_budget
    return own is None or own.allows(choice.task.spent - choice.task.agreed + choice.reserve)


def reserve(state: State, batch: BatchState, agent: str) -> Spend:
    """What an attempt may cost: the most its agent took lately, else what the settings or the budgets suggest."""
    settings = batch.settings
    if settings.budget is None and settings.task_budget is None:
        return NO_SPEND
    known = state.experience.get(agent)
    spends = known.spends if known is not None else ()
    prior = (settings.reserve or _guess(settings)) if len(spends) < ENOUGH else NO_SPEND
    return reduce(Spend.at_least, spends, prior)


def _guess(settings: Settings) -> Spend:
    wide, own = settings.budget or Budget(), settings.task_budget or Budget()
    return Spend(_less(wide.microusd, own.microusd), _less(wide.tokens, own.tokens))


def _less(wide: int | None, own: int | None) -> int:
    """What there is no bound for is not reserved."""
    shares = (bound // parts for bound, parts in ((wide, SHARES), (own, TRIES)) if bound is not None)
    return min(shares, default=0)


def _by_key(entry: Entry) -> tuple[int, int, float, int]:
    return entry.key


def _offers(state: State, batch: BatchState, task: TaskState, agents: tuple[str, ...]) -> list[Choice]:
    return [offer(state, batch, task, agent) for agent in agents if why_busy(state, batch, agent) is None]


def _best(state: State, batch: BatchState, offers: list[Choice]) -> Choice:
    """The one that can be paid for; of several the least busy agent, then the one used least, then the first named."""

    def order(offer: Choice) -> tuple[bool, bool, int, int]:
        busy, used = state.agents.get(offer.agent, 0), batch.agents_used.get(offer.agent, 0)
        return (not within_own(batch, offer), not affordable(batch, offer), busy, used)

    return min(offers, key=order)


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
