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
    """`access`: everything, or only looking. `by`: how they came in; null: nobody was asked. `page` changes with the page that
    is served; null: it was not built.
    """

    access: Literal["all", "look"]
    by: Literal["token", "cookie"] | None
    version: str
    page: str | None


class ProjectShape(ApiModel):
    """`url` null: a checkout on the server's machine. `default`: the one that is meant where none is named."""

    id: str
    name: str
    path: str
    url: str | None
    default: bool


class Projects(ApiModel):
    projects: list[ProjectShape]


class ProjectBody(ApiBody):
    """Either of them: a checkout on the server's machine by its whole path, or a repository by its URL."""

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
