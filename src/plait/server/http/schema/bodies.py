"""Bodies of requests: actions on batches and tasks, and tasks of the sources."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from plait.client.task_file_text import TaskDraft
from plait.core.requests import MAX_OVERRIDE_BODY_CHARS, MAX_OVERRIDE_TITLE_CHARS
from plait.server.http.schema.base import ApiBody
from plait.server.service.actions import TaskAction
from plait.server.service.batch_spec import AgentName, TaskId

FeedbackText = Annotated[str, Field(min_length=1, max_length=100_000)]
MAX_BULK_TASKS = 1_000  # tasks


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


NameList = Annotated[list[str], Field(max_length=500)]


class DraftBody(ApiBody):
    """Omitted fields are not set; an empty text removes a field."""

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
    """`version` is the one that was read, so that later changes are not overwritten.

    `text` is the whole file, without other fields.
    """

    version: Annotated[str, Field(min_length=1, max_length=200)]
    text: str | None = None
