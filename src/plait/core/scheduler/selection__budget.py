"""Never start what could take the batch over its budget, or the task over its own: ask, and let the others go on.

When nothing else can go on, the batch is paused.
"""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.decisions import AnswerAwaited, BatchPaused, BatchUnpaused
from plait.core.decisions__due import Due, due_now
from plait.core.scheduler.selection import find_choices, is_affordable, is_within_task_budget
from plait.core.settings import NO_SPEND
from plait.core.state import BatchState, State
from plait.core.status import PauseCause


def schedule_budget_pauses(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        if batch.settings.task_budget is not None and (
            batch.paused is None or batch.paused.cause is PauseCause.BUDGET
        ):
            yield from _ask_for_budget(state, batch)
        if batch.paused is not None and batch.paused.cause is PauseCause.BUDGET:
            wanted = list(find_choices(state, batch))
            if any(is_affordable(batch, choice) for choice in wanted) or not any(
                state.start_queue.heads(batch.id)
            ):
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
            question = (
                f"may it spend more? {spent} of its {own} is spent, and another attempt may cost {next_one}"
            )
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
