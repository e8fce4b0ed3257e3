"""Batches: preview, create, read."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from plait.client.batch_json import Batch, Batches, CreatedBatch, Graph, TaskRuns, describe_graph
from plait.client.planning.plan_preview import PlanDetails
from plait.client.session import Session
from plait.client.timeline import Timeline, describe_timeline
from plait.server.http.responses import make_response
from plait.server.http.routes.dependencies import BATCH_PATH, BatchId, IdempotencyKey, SessionDep, UpdatedSessionDep
from plait.server.http.schema.base import BATCH_LINKS, BATCH_LIST_LINKS, CURSOR_HEADERS, document_responses
from plait.server.service import batches
from plait.server.service.batch_spec import BatchSpec, NewBatchSpec
from plait.server.service.lookup import resolve_batch

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


@router.post("/api/plan", responses=document_responses(PlanDetails, 409))
async def plan(session: UpdatedSessionDep, body: BatchSpec | None = None) -> Response:
    """Preview a batch of these tasks. Nothing is started; errors in `problems` say why it can't be."""
    return make_response(await batches.preview_batch(session, body or BatchSpec()))


@router.get(
    "/api/batches",
    responses=document_responses(Batches, links=BATCH_LIST_LINKS, headers=CURSOR_HEADERS),
)
async def list_batches(
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
    status_code=201,
    responses=document_responses(
        CreatedBatch,
        409,
        status=201,
        links=BATCH_LINKS,
        also={202: {"model": CreatedBatch, "description": "Durable, but no engine has taken it yet"}},
    ),
)
async def create_batch(session: UpdatedSessionDep, body: NewBatchSpec, key: IdempotencyKey = "") -> Response:
    """Run these tasks; answered when the batch is in the journal. `settings` apply to this batch only."""
    created = await batches.create_batch(session, body, key=key)
    return make_response(created, 202 if created.accepted else 201)


@router.get(
    BATCH_PATH,
    responses=document_responses(Batch, 409, links=BATCH_LINKS, headers=CURSOR_HEADERS),
)
async def get_batch(session: SessionDep, batch_id: BatchId) -> Response:
    """A batch with its tasks, at one moment."""
    body, cursor = await batches.read_batch(session, batch_id)
    return make_response(body, cursor=cursor)


@router.get(
    f"{BATCH_PATH}/standing",
    responses=document_responses(TaskRuns, 409, headers=CURSOR_HEADERS),
)
async def get_standing(session: SessionDep, batch_id: BatchId, asked: TaskFilter) -> Response:
    """The status of some tasks, as under `batch` in /api/tasks: for updates after an event. Unknown ids are left out, and
    entrants are included only by name.
    """
    body, cursor = await batches.read_standing(session, batch_id, asked)
    return make_response(body, cursor=cursor)


@router.get(f"{BATCH_PATH}/graph", responses=document_responses(Graph, 409))
async def get_graph(session: SessionDep, batch_id: BatchId) -> Response:
    """Its tasks with their statuses, and the edges between them with reasons."""

    def read(client: Session) -> Graph:
        state = client.preview_state()
        return describe_graph(state, resolve_batch(state, batch_id))

    return make_response(await session.query(read))


@router.get(
    f"{BATCH_PATH}/timeline",
    responses=document_responses(Timeline, 409),
)
async def get_timeline(session: SessionDep, batch_id: BatchId) -> Response:
    """Attempts, waits and merges with their times, for a chart."""

    def read(client: Session) -> Timeline:
        return describe_timeline(session.follower.history.get_batch(resolve_batch(client.preview_state(), batch_id).id))

    return make_response(await session.query(read))
