"""Bodies and results of control actions."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from plait.core.requests import MAX_OVERRIDE_BODY_CHARS, MAX_OVERRIDE_TITLE_CHARS
from plait.core.status import BatchStatus, TaskStatus
from plait.server.http.schema.base import ApiBody, ApiModel
from plait.server.http.schema.tasks import AgentName, TaskId
from plait.server.service.actions import TaskAction

FeedbackText = Annotated[str, Field(min_length=1, max_length=100_000)]
MAX_BULK_TASKS = 1_000  # tasks


class Outcome(StrEnum):
    """`accepted`: durable, but no engine has answered yet."""

    GRANTED = "granted"
    REFUSED = "refused"
    ACCEPTED = "accepted"


class BulkOutcome(StrEnum):
    GRANTED = "granted"
    REFUSED = "refused"
    ACCEPTED = "accepted"
    UNKNOWN = "unknown"


class ApproveBody(ApiBody):
    """`all`: approve all later tasks of this batch too."""

    all: bool = False


class RetryBody(ApiBody):
    """`agent`: retry with another agent."""

    agent: AgentName | None = None


class FeedbackBody(ApiBody):
    text: FeedbackText


class ShipBody(ApiBody):
    """A pull request, a draft, or only a push. `title` and `body` apply to this and later updates; omitted, the last ones
    are kept. plait's own title and an empty body mean that plait writes them.
    """

    publish: Literal["pr", "draft", "push"] = "pr"
    title: Annotated[str, Field(min_length=1, max_length=MAX_OVERRIDE_TITLE_CHARS)] | None = Field(
        default=None, description="One line of text"
    )
    body: Annotated[str, Field(max_length=MAX_OVERRIDE_BODY_CHARS)] | None = Field(default=None, description="Markdown")


class BulkBody(ApiBody):
    """Without `batchId`: in the newest batch of each task. `agent` is for a retry, `text` for feedback."""

    action: TaskAction = Field(strict=False)
    task_ids: Annotated[list[TaskId], Field(min_length=1, max_length=MAX_BULK_TASKS)]
    batch_id: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    agent: AgentName | None = None
    text: FeedbackText | None = None


class Result(ApiModel):
    """`status` and `reason` are current; of a refusal, `reason` says why. `tasks` are all that were retried."""

    task_id: str | None
    result: Outcome
    reason: str | None
    status: TaskStatus | BatchStatus | None
    tasks: list[str]


class Answered(ApiModel):
    batch_id: str
    results: list[Result]


class Shipped(Answered):
    """`underWay`: the batch has `prUrl` when it is done."""

    under_way: bool
    branch: str | None
    commit: str | None
    pr_url: str | None
    unshipped: str | None


class BulkResult(ApiModel):
    """`batchId` null: no batch has this task."""

    task_id: str
    batch_id: str | None
    result: BulkOutcome
    reason: str | None
    status: TaskStatus | BatchStatus | None
    tasks: list[str]


class BulkAnswered(ApiModel):
    """In the order of `taskIds`."""

    action: TaskAction
    results: list[BulkResult]
