"""A plan comes from a front: it is checked once more before anything is built on it."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from plait.core.contest import why_invalid
from plait.core.plan import Plan
from plait.core.requests import Submit
from plait.core.settings import Isolation
from plait.core.state import State


def why_not_submit(state: State, request: Submit) -> str | None:
    if request.batch in state.batches:
        return f"there is a batch {request.batch} already"
    return request.settings.problem() or _why_invalid_plan(request.plan) or _why_invalid_contest(request)


def _why_invalid_contest(request: Submit) -> str | None:
    if request.settings.isolation is Isolation.IN_PLACE and any(task.entrant for task in request.plan.tasks):
        return "the entrants of a contest need worktrees of their own"
    return why_invalid(request.plan)


def _why_invalid_plan(plan: Plan) -> str | None:
    count = len(plan.tasks)
    if not count:
        return "the plan has no tasks"
    if len({task.id for task in plan.tasks}) != count:
        return "two tasks of the plan have the same id"
    if not plan.is_consistent:
        return "the plan's parts do not belong together"
    try:
        TopologicalSorter(dict(enumerate(plan.needs))).prepare()
    except CycleError:
        return "the plan's needs form a cycle"
    return None
