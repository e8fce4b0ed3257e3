"""Projects, and the server itself."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from plait.client.json_encoding import api_model
from plait.server.http.schema.base import ApiBody

PathOrUrl = Annotated[str, Field(min_length=1, max_length=4096)]


@api_model
class Health:
    status: Literal["ok"]
    version: str


@api_model
class CallerDetails:
    """`access`: everything, or read-only. `by`: how the caller authenticated; null: without authentication. `page` changes with
    the built page; null: it was not built.
    """

    access: Literal["all", "look"]
    by: Literal["token", "cookie"] | None
    version: str
    page: str | None


@api_model
class ProjectDetails:
    """`url` null: a checkout on the server's machine. `default`: used if no project is named."""

    id: str
    name: str
    path: str
    url: str | None
    default: bool


@api_model
class Projects:
    projects: list[ProjectDetails]


class ProjectBody(ApiBody):
    """One of both: the absolute path of a checkout on the server's machine, or the URL of a repository."""

    path: PathOrUrl | None = None
    url: PathOrUrl | None = None
