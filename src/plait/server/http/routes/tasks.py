"""Tasks of the sources."""

from __future__ import annotations

from fastapi import APIRouter, Response

from plait.client.task_listing import SourceTasks, SourceTaskWithText
from plait.server.http.responses import make_response
from plait.server.http.routes.dependencies import SessionDep, TaskName
from plait.server.http.schema.base import CURSOR_HEADERS, TASK_LINKS, TASK_LIST_LINKS, document_responses
from plait.server.http.schema.bodies import NewTask, TaskEdit
from plait.server.service import tasks

router = APIRouter(tags=["tasks"])


@router.get(
    "/api/tasks",
    responses=document_responses(SourceTasks, 409, links=TASK_LIST_LINKS, headers=CURSOR_HEADERS),
)
async def list_tasks(session: SessionDep) -> Response:
    """Every task of the sources, with its status in the newest batch that has it."""
    body, cursor = await tasks.list_source_tasks(session)
    return make_response(body, cursor=cursor)


@router.post(
    "/api/tasks",
    status_code=201,
    responses=document_responses(SourceTaskWithText, 409, status=201, links=TASK_LINKS),
)
async def create_task(session: SessionDep, body: NewTask) -> Response:
    """Create a task, as a file in the task folder."""
    return make_response(await tasks.create_source_task(session, body.to_draft()), 201)


@router.get("/api/tasks/{task_id:path}", responses=document_responses(SourceTaskWithText, 409))
async def get_task(session: SessionDep, task_id: TaskName) -> Response:
    """A task with its texts, and the version that an edit has to name."""
    return make_response(await tasks.read_source_task(session, task_id))


@router.patch("/api/tasks/{task_id:path}", responses=document_responses(SourceTaskWithText, 409))
async def edit_task(session: SessionDep, task_id: TaskName, body: TaskEdit) -> Response:
    """Change its file: fields that are not given stay the same. 409 `changed`: it was changed meanwhile, and nothing was written."""
    return make_response(await tasks.edit_source_task(session, task_id, body.to_draft(), version=body.version))
