"""What routes have in common: paths, parameters, and the session of the project."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Header, Path, Query, Request

from plait.server.project_session import ProjectSession
from plait.server.session_pool import SessionPool

JSON_MEDIA_TYPE = "application/json"
BATCH_PATH = "/api/batches/{batch_id}"
TASK_PATH = f"{BATCH_PATH}/tasks/{{task_id:path}}"

BatchId = Annotated[str, Path(max_length=200, description="A batch's id, or a unique prefix of it")]
TaskName = Annotated[
    str,
    Path(description="A task's id, percent-encoded", json_schema_extra={"maxLength": 1_000}),
]
ProjectId = Annotated[str | None, Query(max_length=200, description="The project's id; none: the default project")]
IdempotencyKey = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="A repeated request with the same key is answered, but not performed again",
    ),
]


def get_session_pool(request: Request) -> SessionPool:
    pool: SessionPool = request.app.state.sessions
    return pool


async def _get_session(request: Request, project: ProjectId = None) -> ProjectSession:
    return await get_session_pool(request).get(project)


async def _get_updated_session(request: Request, project: ProjectId = None) -> ProjectSession:
    return await get_session_pool(request).get_updated(project)


SessionDep = Annotated[ProjectSession, Depends(_get_session)]
UpdatedSessionDep = Annotated[ProjectSession, Depends(_get_updated_session)]
