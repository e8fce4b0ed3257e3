"""Batches: preview, create, read."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from plait.client.batch_json import Batch, Batches, CreatedBatch, Graph, TaskRuns
from plait.client.planning.plan_preview import PlanDetails
from plait.client.timeline import Timeline
from plait.server.http.responses import make_response
from plait.server.http.routes.dependencies import BATCH_PATH, BatchId, IdempotencyKey, SessionDep, UpdatedSessionDep
from plait.server.http.schema.base import BATCH_LINKS, BATCH_LIST_LINKS, CURSOR_HEADERS, document_responses
from plait.server.service import batches
from plait.server.service.batch_spec import BatchSpec, NewBatchSpec

router = APIRouter(tags=["batches"])

Limit = Annotated[int, Query(ge=1, le=10_000, description="Number of batches, newest first")]

TaskFilter = Annotated[
    list[Annotated[str, Field(max_length=1_000)]],
    Query(
        default_factory=list,
        alias="task",
        max_length=200,
        description="A task's exact id; none: all tasks of the batch",
    ),
]


@router.post("/api/plan", operation_id="plan", responses=document_responses(PlanDetails, 409))
async def plan(session: UpdatedSessionDep, body: BatchSpec | None = None) -> Response:
    """Preview a batch of these tasks. Nothing is started; errors in `problems` say why it can't be."""
    return make_response(await batches.preview_batch(session, body or BatchSpec()))


@router.get(
    "/api/batches",
    operation_id="listBatches",
    responses=document_responses(Batches, links=BATCH_LIST_LINKS, headers=CURSOR_HEADERS),
)
async def listed(
    session: SessionDep,
    limit: Limit = 100,
    tasks: Annotated[bool, Query(description="false: without tasks")] = True,  # noqa: FBT002 - a query parameter
    unended: Annotated[bool, Query(alias="open", description="true: also older open batches")] = False,  # noqa: FBT002
) -> Response:
    """All batches, newest first."""
    body, cursor = await batches.list_batches(session, tasks=tasks, limit=limit, unended=unended)
    return make_response(body, cursor=cursor)


@router.post(
    "/api/batches",
    operation_id="createBatch",
    status_code=201,
    responses=document_responses(
        CreatedBatch,
        409,
        status=201,
        links=BATCH_LINKS,
        also={202: {"model": CreatedBatch, "description": "Durable, but no engine has taken it yet"}},
    ),
)
async def create(session: UpdatedSessionDep, body: NewBatchSpec, key: IdempotencyKey = "") -> Response:
    """Run these tasks; answered when the batch is in the journal. `settings` apply to this batch only."""
    created = await batches.create_batch(session, body, key=key)
    return make_response(created, 202 if created.accepted else 201)


@router.get(
    BATCH_PATH,
    operation_id="getBatch",
    responses=document_responses(Batch, 409, links=BATCH_LINKS, headers=CURSOR_HEADERS),
)
async def one(session: SessionDep, batch_id: BatchId) -> Response:
    """A batch with its tasks, at one moment."""
    body, cursor = await batches.read_batch(session, batch_id)
    return make_response(body, cursor=cursor)


@router.get(
    f"{BATCH_PATH}/standing",
    operation_id="getStanding",
    responses=document_responses(TaskRuns, 409, headers=CURSOR_HEADERS),
)
async def standing(session: SessionDep, batch_id: BatchId, asked: TaskFilter) -> Response:
    """The status of some tasks, as under `batch` in /api/tasks: for updates after an event. Unknown ids are left out, and
    entrants are included only by name.
    """
    body, cursor = await batches.read_standing(session, batch_id, asked)
    return make_response(body, cursor=cursor)


@router.get(f"{BATCH_PATH}/graph", operation_id="getGraph", responses=document_responses(Graph, 409))
async def graph(session: SessionDep, batch_id: BatchId) -> Response:
    """Its tasks with their statuses, and the edges between them with reasons."""
    return make_response(await batches.read_graph(session, batch_id))


@router.get(
    f"{BATCH_PATH}/timeline",
    operation_id="getTimeline",
    responses=document_responses(Timeline, 409),
)
async def timeline(session: SessionDep, batch_id: BatchId) -> Response:
    """Attempts, waits and merges with their times, for a chart."""
    return make_response(await batches.read_timeline(session, batch_id))
