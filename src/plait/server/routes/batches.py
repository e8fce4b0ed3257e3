"""Batches: plan, run, look."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from plait.server.acts import batches, views
from plait.server.replies import reply
from plait.server.routes.common import BatchId, InFreshRoom, InOffice, Key
from plait.server.shapes.batch import Batch, Batches, Created
from plait.server.shapes.errors import MARKED, answers
from plait.server.shapes.links import OF_BATCH, OF_BATCHES
from plait.server.shapes.plan import BatchBody, PlanBody, PlanShape
from plait.server.shapes.tasks import Standing
from plait.server.shapes.views import GraphShape, TimelineShape

router = APIRouter(tags=["batches"])

Limit = Annotated[int, Query(ge=1, le=10_000, description="So many of the newest")]

Asked = Annotated[
    list[Annotated[str, Field(max_length=1_000)]],
    Query(
        default_factory=list,
        alias="task",
        max_length=200,
        description="A task's id, exactly; none: all of the batch",
    ),
]


@router.post("/api/plan", operation_id="plan", responses=answers(PlanShape, 409))
async def plan(office: InFreshRoom, body: PlanBody | None = None) -> Response:
    """What a batch of these tasks would be. Nothing is started; where it can't be, errors among the problems say why."""
    return reply(await batches.plan_preview(office, (body or PlanBody()).order()))


@router.get(
    "/api/batches", operation_id="listBatches", responses=answers(Batches, links=OF_BATCHES, headers=MARKED)
)
async def listed(
    office: InOffice,
    limit: Limit = 100,
    tasks: Annotated[bool, Query(description="false: without their tasks")] = True,  # noqa: FBT002 - a word of the query
    unended: Annotated[bool, Query(alias="open", description="true: and older ones that are open")] = False,  # noqa: FBT002
) -> Response:
    """All batches, the newest first."""
    told, mark = await batches.listed_at(office, tasks=tasks, limit=limit, unended=unended)
    return reply(told, mark=mark)


@router.post(
    "/api/batches",
    operation_id="createBatch",
    status_code=201,
    responses=answers(
        Created,
        409,
        status=201,
        links=OF_BATCH,
        also={202: {"model": Created, "description": "It is safe, and no engine has taken it yet"}},
    ),
)
async def create(office: InFreshRoom, body: BatchBody, key: Key = "") -> Response:
    """Run these tasks: the answer comes when the batch is in the journal. Its `settings` count for this batch alone."""
    told = await batches.create(office, body.order(), key=key)
    return reply(told, 202 if told["accepted"] else 201)


@router.get(
    "/api/batches/{batch_id}",
    operation_id="getBatch",
    responses=answers(Batch, 409, links=OF_BATCH, headers=MARKED),
)
async def one(office: InOffice, batch_id: BatchId) -> Response:
    """BATCH, the whole of it at one moment."""
    told, mark = await batches.one_at(office, batch_id)
    return reply(told, mark=mark)


@router.get(
    "/api/batches/{batch_id}/standing",
    operation_id="getStanding",
    responses=answers(Standing, 409, headers=MARKED),
)
async def standing(office: InOffice, batch_id: BatchId, asked: Asked) -> Response:
    """Where some of its tasks stand, as /api/tasks has it under `batch`: for those who heard that something happened to them.
    An id that it has not is left out, and an entrant is told only by its name.
    """
    told, mark = await batches.standing_at(office, batch_id, asked)
    return reply(told, mark=mark)


@router.get("/api/batches/{batch_id}/graph", operation_id="getGraph", responses=answers(GraphShape, 409))
async def graph(office: InOffice, batch_id: BatchId) -> Response:
    """Its tasks with their statuses, and every edge between them with its reason."""
    return reply(await views.graph(office, batch_id))


@router.get(
    "/api/batches/{batch_id}/timeline", operation_id="getTimeline", responses=answers(TimelineShape, 409)
)
async def timeline(office: InOffice, batch_id: BatchId) -> Response:
    """Who worked when, what waited, what was merged: for a chart."""
    return reply(await views.line(office, batch_id))
