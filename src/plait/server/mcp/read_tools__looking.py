"""The tools that look at batches: where they stand, why a task is where it is, what it would take to get further."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from plait.server.mcp.params import HistoryParams, PlanParams, StatusParams, TaskParams
from plait.server.mcp.results import ExplainResult, HistoryResult, StatusResult
from plait.server.mcp.results__told_sources import PlanPreviewResult
from plait.server.mcp.snapshot import (
    build_batch_result,
    build_task_results,
    describe_batch,
    read_batch_snapshot,
)
from plait.server.mcp.tool import Json, ToolCall
from plait.server.service.batch_spec import BatchSpec
from plait.server.service.batches import list_batches, preview_batch
from plait.server.service.inspection import read_explanation as explained
from plait.server.service.lookup import resolve_batch, resolve_task

T = TypeVar("T")

MAX_PLAN_ITEMS = 100  # of anything in a plan that is not a task
MAX_ATTEMPTS = 20


async def plan(call: ToolCall, params: PlanParams) -> PlanPreviewResult:
    found = await preview_batch(call.session, BatchSpec(params.tasks or (), settings=params.settings or {}))
    tasks, waves = _get_list(found, "tasks"), _get_list(found, "waves")
    here, more = paginate(tasks, params.skip, params.limit)
    return PlanPreviewResult.model_validate(
        {
            "ready": bool(tasks),
            "tasks": here,
            "more": more,
            "waves": len(waves),
            "conflicts": _get_list(found, "conflicts")[:MAX_PLAN_ITEMS],
            "criticalPath": _get_list(found, "criticalPath")[:MAX_PLAN_ITEMS],
            "eta": found["eta"],
            "problems": _get_list(found, "problems")[:MAX_PLAN_ITEMS],
        }
    )


async def status(call: ToolCall, params: StatusParams) -> StatusResult:
    _, batch, tasks = await describe_batch(call.session, params.batch)
    if words := params.tasks:
        names = await call.session.query(
            lambda desk: {
                resolve_task(resolve_batch(desk.preview_state(), batch.id), word).task.id for word in words
            }
        )
        tasks = [task for task in tasks if task["taskId"] in names]
    if params.only:
        tasks = [task for task in tasks if task["status"] in params.only]
    here, more = paginate(tasks, params.skip, params.limit)
    return StatusResult(batch=batch, tasks=build_task_results(here), more=more)


async def history(call: ToolCall, params: HistoryParams) -> HistoryResult:
    found = await list_batches(call.session, tasks=False, limit=params.limit)
    batches = _get_list(found, "batches")
    seen = [(batch, await read_batch_snapshot(call.session, str(batch["id"]))) for batch in batches]
    total = await call.session.query(lambda desk: len(desk.preview_state().batches))
    return HistoryResult(
        engine=found["engine"] is not None,
        batches=[build_batch_result(batch, outlined) for batch, outlined in seen],
        more=max(0, total - len(batches)),
    )


async def explain(call: ToolCall, params: TaskParams) -> ExplainResult:
    found = await explained(call.session, params.batch, params.task)
    return ExplainResult.model_validate({**found, "attempts": _get_list(found, "attempts")[-MAX_ATTEMPTS:]})


def paginate(items: Sequence[T], skip: int, limit: int) -> tuple[Sequence[T], int]:
    """A page, and how many come after it."""
    return items[skip : skip + limit], max(0, len(items) - skip - limit)


def _get_list(found: Json, name: str) -> Sequence[Json]:
    value = found[name]
    assert isinstance(value, Sequence)
    return value
