"""The tools that look at batches: where they stand, why a task is where it is, what it would take to get further."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from plait.server.acts.batches import listed, plan_preview
from plait.server.acts.naming import the_batch, the_task
from plait.server.acts.order import Order
from plait.server.acts.reading import explain as explained
from plait.server.mcp.outline import batch_told, outline, tasks_told, told
from plait.server.mcp.told import ExplainTold, HistoryTold, StatusTold
from plait.server.mcp.told_sources import PlanTold
from plait.server.mcp.tool import Call, Json
from plait.server.mcp.wanted import HistoryWanted, OfTask, PlanWanted, StatusWanted

T = TypeVar("T")

MOST = 100  # of anything in a plan that is not a task
ATTEMPTS = 20


async def plan(call: Call, wanted: PlanWanted) -> PlanTold:
    found = await plan_preview(call.office, Order(wanted.tasks or (), settings=wanted.settings or {}))
    tasks, waves = _list(found, "tasks"), _list(found, "waves")
    here, more = paged(tasks, wanted.skip, wanted.limit)
    return PlanTold.model_validate(
        {
            "ready": bool(tasks),
            "tasks": here,
            "more": more,
            "waves": len(waves),
            "conflicts": _list(found, "conflicts")[:MOST],
            "criticalPath": _list(found, "criticalPath")[:MOST],
            "eta": found["eta"],
            "problems": _list(found, "problems")[:MOST],
        }
    )


async def status(call: Call, wanted: StatusWanted) -> StatusTold:
    _, batch, tasks = await told(call.office, wanted.batch)
    if words := wanted.tasks:
        names = await call.office.look(
            lambda desk: {the_task(the_batch(desk.ahead(), batch.id), word).task.id for word in words}
        )
        tasks = [task for task in tasks if task["taskId"] in names]
    if wanted.only:
        tasks = [task for task in tasks if task["status"] in wanted.only]
    here, more = paged(tasks, wanted.skip, wanted.limit)
    return StatusTold(batch=batch, tasks=tasks_told(here), more=more)


async def history(call: Call, wanted: HistoryWanted) -> HistoryTold:
    found = await listed(call.office, tasks=False, limit=wanted.limit)
    batches = _list(found, "batches")
    seen = [(batch, await outline(call.office, str(batch["id"]))) for batch in batches]
    total = await call.office.look(lambda desk: len(desk.ahead().batches))
    return HistoryTold(
        engine=found["engine"] is not None,
        batches=[batch_told(batch, outlined) for batch, outlined in seen],
        more=max(0, total - len(batches)),
    )


async def explain(call: Call, wanted: OfTask) -> ExplainTold:
    found = await explained(call.office, wanted.batch, wanted.task)
    return ExplainTold.model_validate({**found, "attempts": _list(found, "attempts")[-ATTEMPTS:]})


def paged(all_of_it: Sequence[T], skip: int, limit: int) -> tuple[Sequence[T], int]:
    """A page, and how many come after it."""
    return all_of_it[skip : skip + limit], max(0, len(all_of_it) - skip - limit)


def _list(found: Json, name: str) -> Sequence[Json]:
    value = found[name]
    assert isinstance(value, Sequence)
    return value
