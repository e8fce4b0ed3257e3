"""Never start what could take the batch over its budget. When nothing else can go on, pause and ask."""

from __future__ import annotations

from collections.abc import Iterator

from plait.core.agenda.choose import affordable, choices
from plait.core.agenda.due import Due, now
from plait.core.decisions import BatchPaused, BatchUnpaused
from plait.core.state import BatchState, State
from plait.core.status import PauseCause


def owed(state: State) -> Iterator[Due]:
    for batch in state.open.values():
        if batch.paused is not None and batch.paused.cause is PauseCause.BUDGET:
            wanted = list(choices(state, batch))
            if any(affordable(batch, choice) for choice in wanted) or not any(state.ready.heads(batch.id)):
                yield now(BatchUnpaused(batch.id, "the budget is not in the way any more"))
        elif batch.settings.budget is not None and batch.paused is None and not batch.alive:
            why = short(state, batch)
            if why is not None:
                yield now(BatchPaused(batch.id, PauseCause.BUDGET, why))


def short(state: State, batch: BatchState) -> str | None:
    """Why the budget keeps the batch from going on; None when it doesn't."""
    wanted = list(choices(state, batch))
    if not wanted or any(affordable(batch, choice) for choice in wanted):
        return None
    first = wanted[0]
    return (
        f"{batch.spent} of {batch.settings.budget} is spent, and {first.task.task.id} may cost {first.reserve}: "
        "raise the budget to go on"
    )
