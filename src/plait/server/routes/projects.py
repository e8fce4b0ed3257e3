"""The server itself, and the projects that it knows."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from plait import __version__
from plait.server.projects import Project
from plait.server.replies import reply
from plait.server.routes.common import offices_of
from plait.server.shapes.errors import answers
from plait.server.shapes.links import OF_PROJECT
from plait.server.shapes.places import Health, ProjectBody, Projects, ProjectShape

router = APIRouter(tags=["projects"])


@router.get("/health", operation_id="health", responses={200: {"model": Health}}, tags=["server"])
async def health() -> Response:
    """The server answers. It needs no token, and tells nothing else."""
    return reply({"status": "ok", "version": __version__})


@router.get("/api/projects", operation_id="listProjects", responses=answers(Projects))
async def listed(request: Request) -> Response:
    """The repositories that this server knows; the one served comes first."""
    known = await asyncio.to_thread(offices_of(request).projects)
    return reply({"projects": [_json(project) for project in known]})


@router.post(
    "/api/projects",
    operation_id="addProject",
    status_code=201,
    responses=answers(ProjectShape, 409, status=201, links=OF_PROJECT),
)
async def add(request: Request, body: ProjectBody) -> Response:
    """A checkout by its path, or a repository by its URL. One that is known already is brought up to date."""
    return reply(_json(await offices_of(request).add(path=body.path, url=body.url)), 201)


@router.delete(
    "/api/projects/{project_id}",
    operation_id="removeProject",
    status_code=204,
    responses=answers(None, 409),
)
async def remove(request: Request, project_id: Annotated[str, Path(max_length=200)]) -> Response:
    """The server forgets it. Nothing is deleted, and what runs there goes on."""
    await offices_of(request).remove(project_id)
    return Response(status_code=204)


def _json(project: Project) -> dict[str, object]:
    return {
        "id": project.id,
        "name": project.name,
        "path": project.path,
        "url": project.url or None,
        "default": project.default,
    }
