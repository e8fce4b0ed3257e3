"""What routes have in common: the office that is meant, and the names in their paths."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Header, Path, Query, Request

from plait.server.office import Office
from plait.server.offices import Offices

JSON_TYPE = "application/json"

BatchId = Annotated[
    str, Path(max_length=200, description="A batch's id, or the beginning of one that no other has")
]
TaskName = Annotated[
    str,
    Path(description="A task's id, with what a path needs escaped", json_schema_extra={"maxLength": 1_000}),
]
ProjectId = Annotated[
    str | None, Query(max_length=200, description="The project that is meant; none: the one served")
]
Key = Annotated[
    str,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="Whoever asks again with the same key is answered, and nothing is done twice",
    ),
]


def offices_of(request: Request) -> Offices:
    offices: Offices = request.app.state.offices
    return offices


async def _office(request: Request, project: ProjectId = None) -> Office:
    return await offices_of(request).office(project)


async def _fresh(request: Request, project: ProjectId = None) -> Office:
    return await offices_of(request).fresh(project)


InOffice = Annotated[Office, Depends(_office)]
InFreshRoom = Annotated[Office, Depends(_fresh)]
