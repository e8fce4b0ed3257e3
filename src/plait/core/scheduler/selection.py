"""Room for one more attempt: in the batch, and in the engine as a whole.

Which ready task of a batch goes next, and to which agent.

Never start what could take the batch over its budget, or the task over its own: ask, and let the others go on.

When nothing else can go on, the batch is paused.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from plait.core.decisions import AnswerAwaited, BatchPaused, BatchUnpaused, Due, due_now
from plait.core.fast_dataclass import dataclass
from plait.core.scheduler.breakers import (
    is_provider_refusing,
    is_provider_rejecting,
    why_provider_unavailable,
)
from plait.core.settings import NO_SPEND, Budget, Mode, Settings, Spend
from plait.core.start_queue import QueueEntry
from plait.core.state import BatchState, State, TaskState
from plait.core.status import PauseCause
from plait.core.task import Task


def clamp_slots(state: State, batch: BatchState, task: Task) -> int:
    """A task that asks for more than a limit takes all of it."""
    wanted = max(1, task.slots)
    for limit in (state.settings.parallel_limit, batch.settings.max_parallel):
        wanted = min(wanted, limit) if limit else wanted
    return wanted


def has_engine_slots(state: State, slots: int) -> bool:
    return is_within_limit(state, slots) and is_within_capacity(state, slots)


def is_within_limit(state: State, slots: int) -> bool:
    limit = state.settings.parallel_limit
    return not limit or state.slots + slots <= limit


def is_within_capacity(state: State, slots: int) -> bool:
    """An attempt that wants more than there is ever room for starts when it can be alone, or it might wait for ever."""
    if state.capacity is None or state.capacity.slots is None:
        return True
    alone = state.slots == 0 and state.capacity.slots > 0
    return alone or state.slots + slots <= state.capacity.slots


def has_batch_slots(batch: BatchState, slots: int) -> bool:
    limit = batch.settings.max_parallel
    return not limit or batch.slots + slots <= limit


def may_start(state: State, batch: BatchState) -> bool:
    """Whether anything new may be begun."""
    return batch.paused is None and state.pressure is None


def may_continue(state: State, batch: BatchState) -> bool:
    """Whether what was begun may take its next step: that costs no money, so a lack of it stops only what is new."""
    calm = batch.paused is None or batch.paused.cause is PauseCause.BUDGET
    return calm and state.pressure is None


BATCH_BUDGET_SHARES = 10  # without history, an attempt is taken to cost a tenth of the batch's budget
TASK_BUDGET_SHARES = 3  # and a third of the task's own, if that is less
MIN_SPEND_SAMPLES = 3  # so many attempts are a history


@dataclass(frozen=True, slots=True)
class Choice:
    task: TaskState
    agent: str
    reserve: Spend


def find_choices(state: State, batch: BatchState) -> Iterator[Choice]:
    """The first task of each lane that some agent could take now, best first, whether it can be paid for or not.

    Those who stand in are taken in the order in which they are named.
    """
    for task in find_next_tasks(state, batch):
        own = _list_choices(state, batch, task, task.queue_key[1])
        if own:
            yield _pick_choice(state, batch, own)
        elif others := _list_choices(state, batch, task, find_fallback_agents(state, batch, task)):
            yield min(others, key=lambda one: (not is_within_task_budget(batch, one), not is_affordable(batch, one)))


def find_next_tasks(state: State, batch: BatchState) -> Iterator[TaskState]:
    """The first task of each lane whose turn it is, best first."""
    entries = sorted(state.start_queue.heads(batch.id), key=_entry_key)
    for entry in entries[:1] if batch.settings.mode is Mode.QUEUE else entries:
        task = batch.tasks[entry.ref[1]]
        if _is_next_in_queue(batch, task):
            yield task


def find_fallback_agents(state: State, batch: BatchState, task: TaskState) -> tuple[str, ...]:
    """Who may take the task in the place of its own agents: nobody, unless the providers of all of these are closed.
    What is part of a contest is done by whom it was meant for.
    """
    settings, own = batch.settings, task.queue_key[1]
    if not settings.fallback or task.queue_key[2]:
        return ()
    if not all(is_provider_refusing(state, settings.provider(agent)) for agent in own):
        return ()
    return tuple(agent for agent in settings.fallback if agent not in own)


def can_run_elsewhere(state: State, batch: BatchState, task: TaskState, provider: str) -> bool:
    """Whether somebody else can take what this provider rejected: fallback was asked for, and others rejected nobody."""
    settings = batch.settings
    if not settings.fallback or task.queue_key[2]:
        return False
    able = {settings.provider(agent) for agent in (*task.queue_key[1], *settings.fallback)} - {provider}
    return any(not is_provider_rejecting(state, other) for other in able)


def make_choice(state: State, batch: BatchState, task: TaskState, agent: str) -> Choice:
    return Choice(task, agent, estimate_reserve(state, batch, agent))


def is_affordable(batch: BatchState, choice: Choice) -> bool:
    budget = batch.settings.budget
    within = budget is None or budget.allows(batch.spent + batch.reserved_spend + choice.reserve)
    return within and is_within_task_budget(batch, choice)


def is_within_task_budget(batch: BatchState, choice: Choice) -> bool:
    """Whether the task's own budget allows it."""
    own = batch.settings.task_budget
    return own is None or own.allows(choice.task.spent - choice.task.approved_spend + choice.reserve)


def estimate_reserve(state: State, batch: BatchState, agent: str) -> Spend:
    """What an attempt may cost: the most its agent took lately, else what the settings or the budgets suggest."""
    settings = batch.settings
    if settings.budget is None and settings.task_budget is None:
        return NO_SPEND
    known = state.agent_stats.get(agent)
    spends = known.spends if known is not None else ()
    prior = (settings.reserve or _guess_reserve(settings)) if len(spends) < MIN_SPEND_SAMPLES else NO_SPEND
    return reduce(Spend.at_least, spends, prior)


def _guess_reserve(settings: Settings) -> Spend:
    wide, own = settings.budget or Budget(), settings.task_budget or Budget()
    return Spend(_smaller_share(wide.microusd, own.microusd), _smaller_share(wide.tokens, own.tokens))


def _smaller_share(wide: int | None, own: int | None) -> int:
    """What there is no bound for is not reserved."""
    shares = (
        bound // parts for bound, parts in ((wide, BATCH_BUDGET_SHARES), (own, TASK_BUDGET_SHARES)) if bound is not None
    )
    return min(shares, default=0)


def _entry_key(entry: QueueEntry) -> tuple[int, int, float, int]:
    return entry.key


def _list_choices(state: State, batch: BatchState, task: TaskState, agents: tuple[str, ...]) -> list[Choice]:
    return [
        make_choice(state, batch, task, agent) for agent in agents if why_agent_unavailable(state, batch, agent) is None
    ]


def _pick_choice(state: State, batch: BatchState, offers: list[Choice]) -> Choice:
    """The one that can be paid for; of several the least busy agent, then the one used least, then the first named."""

    def order(offer: Choice) -> tuple[bool, bool, int, int]:
        busy, used = state.agents.get(offer.agent, 0), batch.agents_used.get(offer.agent, 0)
        return (not is_within_task_budget(batch, offer), not is_affordable(batch, offer), busy, used)

    return min(offers, key=order)


def why_agent_unavailable(state: State, batch: BatchState, agent: str) -> str | None:
    """Why this agent can't take one more attempt now; None when it can."""
    provider = batch.settings.provider(agent)
    refused = why_provider_unavailable(state, provider)
    if refused is not None:
        return refused
    limit = state.settings.agent_limit(agent)
    if limit and state.agents.get(agent, 0) >= limit:
        return f"{agent} is busy ({limit} of {limit} at work)"
    return None


def _is_next_in_queue(batch: BatchState, task: TaskState) -> bool:
    """In a queue, one task at a time, each with a person's approval."""
    if batch.settings.mode is not Mode.QUEUE or task.started:
        return True
    return not batch.active and (task.approved or batch.settings.auto_approve)


def schedule_budget_pauses(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        if batch.settings.task_budget is not None and (batch.paused is None or batch.paused.cause is PauseCause.BUDGET):
            yield from _ask_for_budget(state, batch)
        if batch.paused is not None and batch.paused.cause is PauseCause.BUDGET:
            wanted = list(find_choices(state, batch))
            if any(is_affordable(batch, choice) for choice in wanted) or not any(state.start_queue.heads(batch.id)):
                yield due_now(BatchUnpaused(batch.id, "the budget is not in the way any more"))
        elif batch.settings.budget is not None and batch.paused is None and not batch.alive:
            why = why_over_budget(state, batch)
            if why is not None:
                yield due_now(BatchPaused(batch.id, PauseCause.BUDGET, why))


def _ask_for_budget(state: State, batch: BatchState) -> Iterator[Due]:
    """A task that nobody who is free could take within its own budget asks: waiting, it would keep others waiting."""
    for choice in find_choices(state, batch):
        if not is_within_task_budget(batch, choice):
            task, own = choice.task, batch.settings.task_budget
            assert own is not None
            spent, next_one = (
                own.bounded_part(NO_SPEND.at_least(task.spent - task.approved_spend)),
                own.bounded_part(choice.reserve),
            )
            question = f"may it spend more? {spent} of its {own} is spent, and another attempt may cost {next_one}"
            yield due_now(AnswerAwaited(batch.id, task.task.id, question, choice.reserve))


def why_over_budget(state: State, batch: BatchState) -> str | None:
    """Why the budget keeps the batch from going on; None when it doesn't."""
    wanted = [choice for choice in find_choices(state, batch) if is_within_task_budget(batch, choice)]
    budget = batch.settings.budget
    if budget is None or not wanted or any(is_affordable(batch, choice) for choice in wanted):
        return None
    first = wanted[0]
    spent, next_one = budget.bounded_part(batch.spent), budget.bounded_part(first.reserve)
    return f"{spent} of {budget} is spent, and {first.task.task.id} may cost {next_one}: raise the budget to go on"
