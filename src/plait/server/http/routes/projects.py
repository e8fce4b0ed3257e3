"""The server itself, and its projects."""

from __future__ import annotations

import asyncio
from enum import Enum
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from plait import __version__
from plait.server.auth import Access, Caller
from plait.server.http.responses import make_response
from plait.server.http.routes.dependencies import get_session_pool
from plait.server.http.schema.base import PROJECT_LINKS, document_responses
from plait.server.http.schema.projects import CallerDetails, Health, ProjectBody, ProjectDetails, Projects
from plait.server.http.web_page import read_page_version
from plait.server.projects import Project

router = APIRouter()

_TAGS: list[str | Enum] = ["projects"]


@router.get("/health", operation_id="health", responses={200: {"model": Health}}, tags=[*_TAGS, "server"])
async def check_health() -> Response:
    """Whether the server answers. Needs no token."""
    return make_response(Health("ok", __version__))


@router.get("/api/me", responses=document_responses(CallerDetails), tags=["server"])
async def get_me(request: Request) -> Response:
    """What the caller may do, and the versions of server and page."""
    caller: Caller | None = request.scope.get("state", {}).get("caller")
    body = CallerDetails(
        access="look" if caller is not None and caller.access is Access.READ else "all",
        by=caller.by.value if caller is not None else None,
        version=__version__,
        page=await asyncio.to_thread(read_page_version),
    )
    return make_response(body)


@router.get("/api/projects", responses=document_responses(Projects), tags=_TAGS)
async def list_projects(request: Request) -> Response:
    """The repositories that this server knows; the default one first."""
    known = await asyncio.to_thread(get_session_pool(request).list_projects)
    return make_response(Projects([_describe_project(project) for project in known]))


@router.post(
    "/api/projects",
    tags=_TAGS,
    status_code=201,
    responses=document_responses(ProjectDetails, 409, status=201, links=PROJECT_LINKS),
)
async def add_project(request: Request, body: ProjectBody) -> Response:
    """Add a checkout by its path, or a repository by its URL. A known one is updated."""
    return make_response(
        _describe_project(await get_session_pool(request).add_project(path=body.path, url=body.url)), 201
    )


@router.delete(
    "/api/projects/{project_id}",
    tags=_TAGS,
    status_code=204,
    responses=document_responses(None, 409),
)
async def remove_project(request: Request, project_id: Annotated[str, Path(max_length=200)]) -> Response:
    """Remove it from the server's list. Nothing is deleted, and running batches continue."""
    await get_session_pool(request).remove_project(project_id)
    return Response(status_code=204)


def _describe_project(project: Project) -> ProjectDetails:
    return ProjectDetails(project.id, project.name, project.path, project.url or None, project.default)
