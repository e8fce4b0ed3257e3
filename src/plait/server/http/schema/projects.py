"""Projects, agents, and the server itself."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from plait.client.installed_agents import LoggedIn
from plait.config.agent_keys import Permission
from plait.server.http.schema.base import ApiBody, ApiModel

PathOrUrl = Annotated[str, Field(min_length=1, max_length=4096)]


class Health(ApiModel):
    status: Literal["ok"]
    version: str


class Me(ApiModel):
    """`access`: everything, or read-only. `by`: how the caller authenticated; null: without authentication. `page` changes with
    the built page; null: it was not built.
    """

    access: Literal["all", "look"]
    by: Literal["token", "cookie"] | None
    version: str
    page: str | None


class ProjectShape(ApiModel):
    """`url` null: a checkout on the server's machine. `default`: used if no project is named."""

    id: str
    name: str
    path: str
    url: str | None
    default: bool


class Projects(ApiModel):
    projects: list[ProjectShape]


class ProjectBody(ApiBody):
    """One of both: the absolute path of a checkout on the server's machine, or the URL of a repository."""

    path: PathOrUrl | None = None
    url: PathOrUrl | None = None


class Login(ApiModel):
    logged_in: LoggedIn
    by: str | None
    how: str | None


class AgentShape(ApiModel):
    name: str
    description: str
    available: bool
    path: str | None
    version: str | None
    problem: str | None
    tested: bool
    install: str | None
    login: Login
    default: bool
    model: str | None
    permission: Permission
    account: str | None


class Agents(ApiModel):
    agents: list[AgentShape]
