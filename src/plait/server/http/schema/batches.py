"""Batches as HTTP answers them; most of their shapes are in plait.client.api_models."""

from __future__ import annotations

from plait.client.api_models import BatchHead, BatchTask, EngineSeen, Problem, api_model
from plait.core.settings import Mode
from plait.core.status import BatchStatus, TaskStatus
from plait.server.http.schema.base import ApiModel


@api_model
class BatchListed(BatchHead):
    """An item of a list; without `tasks` if `?tasks=false`."""

    tasks: list[BatchTask] | None = None


class Batches(ApiModel):
    """Newest first. `engine` null: none is running."""

    engine: EngineSeen | None
    batches: list[BatchListed]


class CreatedTask(ApiModel):
    task_id: str
    title: str
    status: TaskStatus
    branch: str | None


class Created(ApiModel):
    """`problems` are warnings. `accepted`: durable, but no engine has taken it yet."""

    id: str
    status: BatchStatus
    mode: Mode
    branch: str | None
    tasks: list[CreatedTask]
    created_at: str
    problems: list[Problem]
    accepted: bool


class PullText(ApiModel):
    title: str
    body: str


class PullRequest(ApiModel):
    """`title` and `body` are what would be sent now, `own` what plait would write by itself. `target` null: only the
    remote knows it. `shipped`: the branch is published as it is. `why` says why no pull request can be opened, as far
    as is known without a network; with `canPush`, the branch can be pushed all the same.
    """

    batch_id: str
    title: str
    body: str
    own: PullText
    branch: str | None
    target: str | None
    url: str | None
    shipped: bool
    under_way: bool
    can_publish: bool
    can_push: bool
    why: str | None
    hint: str | None
