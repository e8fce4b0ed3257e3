"""Raise the budget of a batch that its budget has paused."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

from plait.client.planning.agent_assignment import check_budgets
from plait.core.errors import UserError
from plait.core.requests import ChangeSettings
from plait.core.scheduler.starts import why_over_budget
from plait.core.settings import Budget
from plait.core.state import BatchState, State
from plait.core.status import PauseCause
from plait.git.location import RepoLocation
from plait.store import project_files
from plait.store.batch_files import BatchInputsError


def make_budget_change(
    location: RepoLocation, state: State, batch: BatchState, name: str, budget: Budget | None
) -> ChangeSettings:
    """Make the request with this id, after which the batch continues by itself. `budget` None removes the budget.

    Raises UserError for a batch that waits for something else, and for a budget that is too low or can't be kept.
    """
    if batch.paused is None or batch.paused.cause is not PauseCause.BUDGET:
        raise UserError(f"batch {batch.id} does not wait for a higher budget")
    try:
        agents = project_files.load_batch_inputs(location, batch.id).agents  # as submitted
    except BatchInputsError:
        agents = ()
    settings = replace(batch.settings, budget=budget)
    for problem in check_budgets(settings, [task.task for task in batch.tasks], agents):
        raise UserError(problem.message, hint=problem.hint)
    after = copy(batch)
    after.settings = settings
    too_low = why_over_budget(state, after)
    if too_low is not None:
        raise UserError(too_low)
    return ChangeSettings(name, batch.id, settings, ("budget",))
