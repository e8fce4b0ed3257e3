"""Tasks of the sources."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from plait.client.task_drafts import TaskDraft
from plait.core.status import Category, TaskStatus, Waiting
from plait.server.http.schema.base import Problem
from plait.server.http.schema.base__shape import ApiBody, ApiModel
from plait.server.http.schema.batches import BatchHead, Cost, Diffstat
from plait.server.http.schema.tasks import NeedShape
from plait.sources.source_model import SourceStatus

NameList = Annotated[list[str], Field(max_length=500)]


class Run(ApiModel):
    """Where it stands in the newest batch that has it; `taskId` is what that batch calls it.

    `needsYou`: it waits for an answer, an approval or a decision. `review`: it is done, and its batch branch not shipped.
    """

    batch_id: str
    task_id: str
    status: TaskStatus
    reason: str
    waiting: Waiting | None
    needs_you: bool
    category: Category | None
    agent: str | None
    attempt: int
    phase: str | None
    started_at: str | None
    completed_at: str | None
    cost: Cost
    diffstat: Diffstat | None
    commit: str | None
    shipped: bool
    review: bool


class Standing(ApiModel):
    """Of `tasks`, those that were asked for."""

    batch: BatchHead
    tasks: list[Run]


class SourceTask(ApiModel):
    """`parts`: it is a group of these. `notEditable` says why it can't be edited here."""

    id: str
    title: str
    status: SourceStatus
    source: str | None
    format: str
    needs: list[NeedShape]
    touches: list[str]
    conflicts_with: list[str]
    phase: str | None
    priority: int
    weight: float
    agent: str | None
    model: str | None
    verify: str | None
    run: str | None
    parts: list[str]
    editable: bool
    not_editable: str | None
    batch: Run | None


class Tasks(ApiModel):
    tasks: list[SourceTask]
    problems: list[Problem]


class WholeTask(SourceTask):
    """`text` is all of its file, and `version` the one that an edit goes by; null where it can't be edited."""

    body: str
    text: str | None
    version: str | None
    problems: list[Problem]


class DraftBody(ApiBody):
    """What is left out is not said; an empty text takes something away."""

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
    """`version` is the one that was read: what somebody else has changed since is not written over.

    `text` is the whole file, and stands alone.
    """

    version: Annotated[str, Field(min_length=1, max_length=200)]
    text: str | None = None
