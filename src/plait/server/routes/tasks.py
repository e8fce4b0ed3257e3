"""Tasks of the sources."""

from __future__ import annotations

from fastapi import APIRouter, Response

from plait.server.acts import tasks
from plait.server.replies import reply
from plait.server.routes.common import InOffice, TaskName
from plait.server.shapes.errors import MARKED, answers
from plait.server.shapes.links import OF_SOURCE_TASK, OF_SOURCES
from plait.server.shapes.tasks import NewTask, TaskEdit, Tasks, WholeTask

router = APIRouter(tags=["tasks"])


@router.get(
    "/api/tasks", operation_id="listTasks", responses=answers(Tasks, 409, links=OF_SOURCES, headers=MARKED)
)
async def listed(office: InOffice) -> Response:
    """Every task of the sources, selected or not, with where it stands in the newest batch that has it."""
    told, mark = await tasks.listed_at(office)
    return reply(told, mark=mark)


@router.post(
    "/api/tasks",
    operation_id="createTask",
    status_code=201,
    responses=answers(WholeTask, 409, status=201, links=OF_SOURCE_TASK),
)
async def create(office: InOffice, body: NewTask) -> Response:
    """A new task, as a file in the folder of tasks."""
    return reply(await tasks.create(office, body.draft()), 201)


@router.get("/api/tasks/{task_id:path}", operation_id="getTask", responses=answers(WholeTask, 409))
async def one(office: InOffice, task_id: TaskName) -> Response:
    """A task with its texts, and the version that an edit goes by."""
    return reply(await tasks.one(office, task_id))


@router.patch("/api/tasks/{task_id:path}", operation_id="editTask", responses=answers(WholeTask, 409))
async def edit(office: InOffice, task_id: TaskName, body: TaskEdit) -> Response:
    """Change its file: what is not named stays as it is. 409 `changed`: somebody else was quicker, and nothing was written."""
    return reply(await tasks.edit(office, task_id, body.draft(), version=body.version))
