"""Tasks of the sources: list, read, create and edit."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from pydantic import Field

from plait.client.api_errors import NotFoundError, StateError, list_error_problems
from plait.client.api_models import make_problem
from plait.client.mirrors import is_mirror
from plait.client.project_sources import LoadedSources, SourcesMissingError, load_sources
from plait.client.project_state import load_project_config
from plait.client.task_editor import create_task_file, edit_task_file
from plait.client.task_file_text import TaskDraft
from plait.client.task_listing import (
    SourceTasks,
    SourceTaskWithText,
    describe_saved_task,
    describe_source_task,
    describe_source_tasks,
)
from plait.client.trust import AGENT_KEYS, FORMAT_KEY, UntrustedError, require_trust
from plait.config.config import Config
from plait.core.errors import UserError
from plait.git.location import RepoLocation
from plait.server.http.routes.routing import CURSOR_HEADERS, Routes, SessionDep, TaskName, link_operations
from plait.server.http.schema import ApiBody
from plait.server.project_session import ProjectSession

routes = Routes("tasks")

_LIST_LINKS = link_operations(("getTask",), {"path.task_id": "tasks/0/id"}) | {
    name: {"operationId": name, "requestBody": {"taskIds": ["$response.body#/tasks/0/id"]}}
    for name in ("plan", "createBatch")
}
_TASK_LINKS = link_operations(("getTask", "editTask"), {"path.task_id": "id"})

NameList = Annotated[list[str], Field(max_length=500)]


class DraftBody(ApiBody):
    """The fields of a task. Omitted fields are not set; an empty text removes a field."""

    title: str | None = None
    body: str | None = None
    needs: NameList | None = None
    touches: NameList | None = None
    phase: str | None = None
    priority: str | int | None = None
    weight: str | float | None = None
    agent: str | None = None
    model: str | None = None
    verify: str | None = None
    run: str | None = None

    def to_draft(self) -> TaskDraft:
        return TaskDraft(**self.model_dump(exclude={"version"}))


class NewTask(DraftBody):
    title: str


class TaskEdit(DraftBody):
    """An edit of a task. `version` is the one that was read, so that later changes are not overwritten.

    `text` is the whole file, without other fields.
    """

    version: Annotated[str, Field(min_length=1, max_length=200)]
    text: str | None = None


@routes.add("GET", "/api/tasks", SourceTasks, links=_LIST_LINKS, headers=CURSOR_HEADERS)
async def list_tasks(session: SessionDep) -> tuple[SourceTasks, str]:
    """Every task of the sources, with its status in the newest batch that has it."""
    try:
        sources = await asyncio.to_thread(_load_sources, session)
    except UntrustedError:
        raise
    except UserError as error:  # there are no sources yet, which is not an error
        empty = SourceTasks([], [make_problem(problem) for problem in list_error_problems(error)])
        return await session.query_with_cursor(lambda _: empty)
    return await session.query_with_cursor(lambda client: describe_source_tasks(sources, client.state))


@routes.add("POST", "/api/tasks", SourceTaskWithText, status=201, links=_TASK_LINKS)
async def create_task(session: SessionDep, body: NewTask) -> SourceTaskWithText:
    """Create a task, as a file in the task folder."""
    location = session.location
    saved = await asyncio.to_thread(
        lambda: create_task_file(location, _load_writable_config(location), body.to_draft())
    )
    return await session.query(lambda client: describe_saved_task(saved, client.state))


@routes.add("GET", "/api/tasks/{task_id:path}", SourceTaskWithText)
async def get_task(session: SessionDep, task_id: TaskName) -> SourceTaskWithText:
    """A task with its texts, and the version that an edit has to name."""
    with _map_missing_sources(task_id):
        sources = await asyncio.to_thread(_load_sources, session)
    return await session.query(lambda client: describe_source_task(sources, task_id, client.state))


@routes.add("PATCH", "/api/tasks/{task_id:path}", SourceTaskWithText)
async def edit_task(session: SessionDep, task_id: TaskName, body: TaskEdit) -> SourceTaskWithText:
    """Change a task's file; omitted fields stay. 409 `changed`: it was changed meanwhile, and nothing was written."""
    location, draft = session.location, body.to_draft()
    with _map_missing_sources(task_id):
        saved = await asyncio.to_thread(
            lambda: edit_task_file(location, _load_writable_config(location), task_id, draft, version=body.version)
        )
    return await session.query(lambda client: describe_saved_task(saved, client.state))


@contextmanager
def _map_missing_sources(name: str) -> Iterator[None]:
    """Report missing sources as a missing task."""
    try:
        yield
    except SourcesMissingError as error:
        raise NotFoundError(f"there is no task {name}", hint=error.message) from None


def _load_writable_config(location: RepoLocation) -> Config:
    if is_mirror(location):
        raise StateError(
            "this project is a mirror: changes would be lost with the next fetch",
            state="mirrored",
            hint="Commit the task to the repository itself.",
        )
    config = load_project_config(location.top)
    _check_trust(config, location)
    return config


def _load_sources(session: ProjectSession) -> LoadedSources:
    location = session.location
    return load_sources(
        location.top,
        location=location,
        check_config=lambda config: _check_trust(config, location),
        cache=session.source_cache,
    )


def _check_trust(config: Config, location: RepoLocation) -> None:
    """Require trust, because loading sources runs custom formats and agents."""
    require_trust(config, location, early=(FORMAT_KEY, *AGENT_KEYS))
