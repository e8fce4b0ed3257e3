"""Where a start is decided: which ready task starts next, with which agent, and whether slots and budgets allow it.

A task starts when its own facts allow it (`find_next_action` in core/reducers/task_index.py: needs, phase, backoff), its
files and groups are free (core/start_queue.py), it is next and an agent may take it (`find_choices`), and its batch and
the engine have room (`find_starts`). core/explain.py gives the reason for each of these, and asks `find_starts` which
task is next.

A task that takes several slots is not overtaken while it waits for them, or it might wait for ever. An attempt that could
exceed the budget of its batch or task is not started: the task asks for more, the others continue, and when nothing else
can run the batch is paused.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from operator import attrgetter

from plait.core.contest import list_candidates, list_kept_votes
from plait.core.decisions import AnswerAwaited, AttemptStarted, BatchPaused, BatchUnpaused, Decision
from plait.core.fast_dataclass import dataclass
from plait.core.reducers.task_index import are_locks_free
from plait.core.scheduler.breakers import is_provider_refusing, is_provider_rejecting, why_provider_unavailable
from plait.core.settings import NO_SPEND, Budget, Mode, Settings, Spend
from plait.core.state import BatchState, State, TaskState
from plait.core.status import NextAction, PauseCause
from plait.core.task import Attempt, Step, Task

BATCH_BUDGET_SHARES = 10  # without history, an attempt is assumed to cost a tenth of the batch's budget
TASK_BUDGET_SHARES = 3  # or a third of the task's own, if that is less
MIN_SPEND_SAMPLES = 3  # attempts of an agent before its history is used alone
_BUDGET_QUESTION = "the task's budget is reached"


@dataclass(frozen=True, slots=True)
class Choice:
    task: TaskState
    agent: str
    reserve: Spend


@dataclass(frozen=True, slots=True)
class Start:
    choice: Choice
    slots: int


@dataclass(frozen=True, slots=True)
class StartHold:
    """Says that a batch starts nothing now. `task` goes first: it is merged or verified, or waits for `slots`. None:
    the batch is paused or full, or no agent is available. `holds_engine`: batches that come after this one start
    nothing either.
    """

    task: TaskState | None = None
    slots: int = 0
    holds_engine: bool = False


def schedule_starts(state: State) -> Iterator[Decision]:
    for batch, start in find_starts(state):
        if isinstance(start, Start):
            yield _start_attempt(batch, start.choice, start.slots)


def find_starts(state: State) -> Iterator[tuple[BatchState, Start | StartHold]]:
    """Yield what each batch would start now, in the order in which batches are served, as far as the engine has slots.

    Of the batches that share the engine, the one with the least at work is served first; of two alike, the older one.
    """
    if not has_engine_slots(state, 1):
        return
    for batch in sorted(state.open.values(), key=lambda batch: (batch.slots, batch.order)):
        start = _find_start(state, batch)
        yield batch, start
        if isinstance(start, StartHold) and start.holds_engine:
            return


def _find_start(state: State, batch: BatchState) -> Start | StartHold:
    if not may_start(state, batch) or not has_batch_slots(batch, 1) or not batch.is_branch_stable:
        return StartHold()
    merging = batch.tasks_by_action[NextAction.MERGE].first() if batch.merging is None else batch.merging
    if merging is not None:
        # A moment later there is a newer base to start from, with less to conflict with.
        return StartHold(batch.tasks[merging])
    verifying = find_next_verification(state, batch)
    if verifying is not None:
        # It did not fit when `schedule_verifications` was asked, so nothing may take the room it waits for.
        slots = count_verification_slots(state, batch, verifying)
        return StartHold(verifying, slots, holds_engine=not has_engine_slots(state, slots))
    choice = next((choice for choice in find_choices(state, batch) if is_affordable(batch, choice)), None)
    if choice is None:
        return StartHold()
    slots = clamp_slots(state, batch, choice.task.task)
    if has_engine_slots(state, slots) and has_batch_slots(batch, slots):
        return Start(choice, slots)
    return StartHold(choice.task, slots, holds_engine=not has_engine_slots(state, slots))


def find_next_verification(state: State, batch: BatchState) -> TaskState | None:
    """Return the first task to verify whose locks are its own or free; only finished work that is verified again may
    have to wait for locks.
    """
    tasks = (batch.tasks[index] for index in batch.tasks_by_action[NextAction.VERIFY])
    return next((task for task in tasks if task.holds_locks or are_locks_free(state, task)), None)


def _start_attempt(batch: BatchState, choice: Choice, slots: int) -> AttemptStarted:
    task, settings = choice.task, batch.settings
    last = task.last_write
    continued = last if not task.fresh and last is not None and last.agent == choice.agent else None
    session = continued.session if continued is not None else None
    return AttemptStarted(
        Attempt(batch.id, task.task.id, Step.WRITE, task.attempt_counts.get(Step.WRITE, 0) + 1),
        choice.agent,
        settings.provider(choice.agent),
        timeout=task.task.timeout or settings.timeout,
        idle_timeout=settings.idle_timeout,
        slots=slots,
        reserve=choice.reserve,
        base=task.base if task.base is not None else batch.head,
        session=session,
        feedback=task.feedback,
        repairs=task.change_to_repair,
        before=continued.decision.before + continued.used if continued and session else NO_SPEND,
        candidates=list_candidates(batch, task),
        votes=list_kept_votes(task),
    )


def may_start(state: State, batch: BatchState) -> bool:
    """Whether neither a pause nor the machine holds the batch. `schedule_starts` checks slots, locks and agents."""
    return batch.paused is None and state.pressure is None


def may_continue(state: State, batch: BatchState) -> bool:
    """Whether started tasks may take their next step. It costs nothing, so a budget does not stop it."""
    may_run = batch.paused is None or batch.paused.cause is PauseCause.BUDGET
    return may_run and state.pressure is None


def is_held_by_pause(batch: BatchState, task: TaskState) -> bool:
    """Whether a pause, and so a person, decides when the task takes its next step. It never holds a commit or a merge,
    and a pause for the budget may end without a person.
    """
    paused = batch.paused is not None and batch.paused.cause is not PauseCause.BUDGET
    return paused and task.step is not Step.MERGE and task.uncommitted is None


def find_choices(state: State, batch: BatchState) -> Iterator[Choice]:
    """Yield the first task of each queue that some agent could take now, best first, affordable or not."""
    return (choice for task in find_next_tasks(state, batch) if (choice := choose_agent(state, batch, task)))


def find_next_tasks(state: State, batch: BatchState) -> Iterator[TaskState]:
    """Yield the first task of each queue whose turn it is, best first."""
    if batch.settings.mode is Mode.QUEUE:
        head = find_queue_head(state, batch)
        tasks = [] if head is None else [head]
    else:
        tasks = [batch.tasks[entry.index] for entry in sorted(state.start_queue.heads(batch.id), key=attrgetter("key"))]
    return (task for task in tasks if _is_next_in_queue(batch, task))


def find_queue_head(state: State, batch: BatchState) -> TaskState | None:
    """Return the ready task that comes first in the batch's order."""
    entry = min(state.start_queue.heads(batch.id), key=attrgetter("key"), default=None)
    return None if entry is None else batch.tasks[entry.index]


def _is_next_in_queue(batch: BatchState, task: TaskState) -> bool:
    """Whether it is the task's turn in a queue, which runs one task at a time, each with a person's approval."""
    if batch.settings.mode is not Mode.QUEUE or task.holds_locks:
        return True
    return not batch.active and (task.approved or batch.settings.auto_approve)


def choose_agent(state: State, batch: BatchState, task: TaskState) -> Choice | None:
    """Choose the agent that takes the task now, or return None if none is available. An affordable one if there is one;
    of several the least busy, then the least used, then the first named. Fallback agents are taken in the order in
    which they are named.
    """
    own = _list_choices(state, batch, task, task.queue_key.agents)
    others = [] if own else _list_choices(state, batch, task, find_fallback_agents(state, batch, task))

    def order(choice: Choice) -> tuple[bool, bool, int, int]:
        busy, used = state.agents.get(choice.agent, 0), batch.agents_used.get(choice.agent, 0)
        cost = (not is_within_task_budget(batch, choice), not is_affordable(batch, choice))
        return (*cost, busy, used) if own else (*cost, 0, 0)

    return min(own or others, key=order, default=None)


def _list_choices(state: State, batch: BatchState, task: TaskState, agents: tuple[str, ...]) -> list[Choice]:
    return [
        Choice(task, agent, estimate_reserve(state, batch, agent))
        for agent in agents
        if why_agent_unavailable(state, batch, agent) is None
    ]


def why_agent_unavailable(state: State, batch: BatchState, agent: str) -> str | None:
    """Say why this agent can't take one more attempt now; None when it can."""
    provider = batch.settings.provider(agent)
    refused = why_provider_unavailable(state, provider)
    if refused is not None:
        return refused
    limit = state.settings.agent_limit(agent)
    if limit and state.agents.get(agent, 0) >= limit:
        return f"{agent} is busy ({limit} of {limit} running)"
    return None


def find_fallback_agents(state: State, batch: BatchState, task: TaskState) -> tuple[str, ...]:
    """Return the agents for a task whose own agents' providers all refuse; none for a contest's tasks."""
    settings, own = batch.settings, task.queue_key.agents
    if not settings.fallback or task.queue_key.is_contest:
        return ()
    if not all(is_provider_refusing(state, settings.provider(agent)) for agent in own):
        return ()
    return tuple(agent for agent in settings.fallback if agent not in own)


def can_run_elsewhere(state: State, batch: BatchState, task: TaskState, provider: str) -> bool:
    """Whether another provider can take what this one rejected: the batch has fallback agents, and one of the other
    providers rejects nothing.
    """
    settings = batch.settings
    if not settings.fallback or task.queue_key.is_contest:
        return False
    providers = {settings.provider(agent) for agent in (*task.queue_key.agents, *settings.fallback)} - {provider}
    return any(not is_provider_rejecting(state, other) for other in providers)


def clamp_slots(state: State, batch: BatchState, task: Task) -> int:
    """Return the slots of an attempt: what the task asks for, but no more than any limit."""
    wanted = max(1, task.slots)
    for limit in (state.settings.parallel_limit, batch.settings.max_parallel):
        wanted = min(wanted, limit) if limit else wanted
    return wanted


def count_verification_slots(state: State, batch: BatchState, task: TaskState) -> int:
    """Return the slots that verifying the task takes; for a contest's winner none are added for judges."""
    written = batch.tasks[task.entrants[0]] if task.entrants else task
    return clamp_slots(state, batch, written.task)


def has_engine_slots(state: State, slots: int) -> bool:
    return is_within_limit(state, slots) and is_within_capacity(state, slots)


def is_within_limit(state: State, slots: int) -> bool:
    limit = state.settings.parallel_limit
    return not limit or state.slots + slots <= limit


def is_within_capacity(state: State, slots: int) -> bool:
    """Whether enough slots are free. An attempt that needs more than there ever are starts when nothing else runs."""
    if state.capacity is None or state.capacity.slots is None:
        return True
    alone = state.slots == 0 and state.capacity.slots > 0
    return alone or state.slots + slots <= state.capacity.slots


def has_batch_slots(batch: BatchState, slots: int) -> bool:
    limit = batch.settings.max_parallel
    return not limit or batch.slots + slots <= limit


def is_affordable(batch: BatchState, choice: Choice) -> bool:
    budget = batch.settings.budget
    within = budget is None or budget.allows(batch.spent + batch.reserved_spend + choice.reserve)
    return within and is_within_task_budget(batch, choice)


def is_within_task_budget(batch: BatchState, choice: Choice) -> bool:
    """Whether the task's own budget allows it."""
    own = batch.settings.task_budget
    return own is None or own.allows(choice.task.spent - choice.task.approved_spend + choice.reserve)


def estimate_reserve(state: State, batch: BatchState, agent: str) -> Spend:
    """Estimate what an attempt may cost: the most that its agent used recently, else what settings or budgets suggest."""
    settings = batch.settings
    if settings.budget is None and settings.task_budget is None:
        return NO_SPEND
    stats = state.agent_stats.get(agent)
    spends = stats.spends if stats is not None else ()
    prior = (settings.reserve or _guess_reserve(settings)) if len(spends) < MIN_SPEND_SAMPLES else NO_SPEND
    return reduce(Spend.at_least, spends, prior)


def _guess_reserve(settings: Settings) -> Spend:
    batch_budget, task_budget = settings.budget or Budget(), settings.task_budget or Budget()
    return Spend(
        _smaller_share(batch_budget.microusd, task_budget.microusd),
        _smaller_share(batch_budget.tokens, task_budget.tokens),
    )


def _smaller_share(batch_budget: int | None, task_budget: int | None) -> int:
    """Return the smaller of the budgets' shares; 0 where neither has a bound."""
    shares = (
        bound // parts
        for bound, parts in ((batch_budget, BATCH_BUDGET_SHARES), (task_budget, TASK_BUDGET_SHARES))
        if bound is not None
    )
    return min(shares, default=0)


def schedule_budget_pauses(state: State) -> Iterator[Decision]:
    for batch in state.open.values():
        if batch.settings.task_budget is not None and (batch.paused is None or batch.paused.cause is PauseCause.BUDGET):
            yield from _ask_for_budget(state, batch)
        if batch.paused is not None and batch.paused.cause is PauseCause.BUDGET:
            wanted = list(find_choices(state, batch))
            if any(is_affordable(batch, choice) for choice in wanted) or not any(state.start_queue.heads(batch.id)):
                yield BatchUnpaused(batch.id, "the budget allows more work again")
        elif batch.settings.budget is not None and batch.paused is None and not batch.alive:
            why = why_over_budget(state, batch)
            if why is not None:
                yield BatchPaused(batch.id, PauseCause.BUDGET, why)


def _ask_for_budget(state: State, batch: BatchState) -> Iterator[Decision]:
    """Ask a person for tasks that no available agent could take within their own budget, so they don't block others."""
    for choice in find_choices(state, batch):
        if not is_within_task_budget(batch, choice):
            task, own = choice.task, batch.settings.task_budget
            assert own is not None
            spent = own.bounded_part(NO_SPEND.at_least(task.spent - task.approved_spend))
            cost = own.bounded_part(choice.reserve)
            question = f"{_BUDGET_QUESTION}: {spent} of {own} spent, another attempt may cost {cost}. Continue?"
            yield AnswerAwaited(batch.id, task.task.id, question, choice.reserve)


def is_budget_question(question: str) -> bool:
    """Whether this question asks for more budget. Records have no field for it, so the text tells."""
    return question.startswith(_BUDGET_QUESTION)


def why_over_budget(state: State, batch: BatchState) -> str | None:
    """Say why the budget allows no further attempt; None if it allows one."""
    wanted = [choice for choice in find_choices(state, batch) if is_within_task_budget(batch, choice)]
    budget = batch.settings.budget
    if budget is None or not wanted or any(is_affordable(batch, choice) for choice in wanted):
        return None
    first = wanted[0]
    spent, next_one = budget.bounded_part(batch.spent), budget.bounded_part(first.reserve)
    return f"{spent} of {budget} is spent, and {first.task.task.id} may cost {next_one}: raise the budget to continue"
