"""The server itself, and its projects."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from fastapi import Path, Request, Response
from pydantic import Field

from plait import __version__
from plait.client.json_encoding import api_model
from plait.server.auth import Access, Caller
from plait.server.http.routes.routing import ERRORS_BUT_CONFLICT, Routes, get_session_pool, link_operations
from plait.server.http.schema import ApiBody
from plait.server.http.web_page import read_page_version
from plait.server.projects import Project

routes = Routes("projects")

PathOrUrl = Annotated[str, Field(min_length=1, max_length=4096)]


@api_model
class Health:
    status: Literal["ok"]
    version: str


@api_model
class CallerDetails:
    """The caller and the server. `access`: everything, or read-only. `by`: how the caller authenticated; null: without
    authentication. `page` changes with the built page; null: it was not built.
    """

    access: Literal["all", "look"]
    by: Literal["token", "cookie"] | None
    version: str
    page: str | None


@api_model
class ProjectDetails:
    """A project. `url` null: a checkout on the server's machine. `default`: used if no project is named."""

    id: str
    name: str
    path: str
    url: str | None
    default: bool


@api_model
class Projects:
    projects: list[ProjectDetails]


class ProjectBody(ApiBody):
    """A project to add: the absolute path of a checkout on the server's machine, or the URL of a repository."""

    path: PathOrUrl | None = None
    url: PathOrUrl | None = None


@routes.add("GET", "/health", Health, errors={}, operation_id="health", tags=["projects", "server"])
async def check_health() -> Health:
    """Whether the server answers. Needs no token."""
    return Health("ok", __version__)


@routes.add("GET", "/api/me", CallerDetails, errors=ERRORS_BUT_CONFLICT, tags=["server"])
async def get_me(request: Request) -> CallerDetails:
    """What the caller may do, and the versions of server and page."""
    caller: Caller | None = request.scope.get("state", {}).get("caller")
    return CallerDetails(
        access="look" if caller is not None and caller.access is Access.READ else "all",
        by=caller.by.value if caller is not None else None,
        version=__version__,
        page=await asyncio.to_thread(read_page_version),
    )


@routes.add("GET", "/api/projects", Projects, errors=ERRORS_BUT_CONFLICT)
async def list_projects(request: Request) -> Projects:
    """The repositories that this server knows; the default one first."""
    projects = await asyncio.to_thread(get_session_pool(request).list_projects)
    return Projects([_describe_project(project) for project in projects])


@routes.add(
    "POST",
    "/api/projects",
    ProjectDetails,
    status=201,
    links=link_operations(("removeProject",), {"path.project_id": "id"}),
)
async def add_project(request: Request, body: ProjectBody) -> ProjectDetails:
    """Add a checkout by its path, or a repository by its URL. A known one is updated."""
    return _describe_project(await get_session_pool(request).add_project(path=body.path, url=body.url))


@routes.add("DELETE", "/api/projects/{project_id}", status=204)
async def remove_project(request: Request, project_id: Annotated[str, Path(max_length=200)]) -> Response:
    """Remove a project from the server's list. Nothing is deleted, and running batches continue."""
    await get_session_pool(request).remove_project(project_id)
    return Response(status_code=204)


def _describe_project(project: Project) -> ProjectDetails:
    return ProjectDetails(project.id, project.name, project.path, project.url or None, project.default)
