"""Bodies for new batches and for tasks of the sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, JsonValue

from plait.client.task_drafts import TaskDraft
from plait.core.contest import MAX_ENTRANTS as MOST_ENTRANTS, Contest
from plait.core.settings import Mode
from plait.server.http.schema.base import ApiBody
from plait.server.service.batch_spec import BatchSpec

MAX_TASKS = 10_000  # tasks
TaskId = Annotated[str, Field(min_length=1, max_length=10_000)]
AgentName = Annotated[str, Field(min_length=1, max_length=200)]
TaskIds = Annotated[list[TaskId], Field(min_length=1, max_length=MAX_TASKS)]

SettingsGiven = Annotated[
    dict[str, JsonValue],
    Field(description="By the names of GET /api/settings; null: not given", max_length=100),
]


class ContestBody(ApiBody):
    """Run each task `times` times per agent and merge the best result. `agents` omitted: those of the settings."""

    agents: Annotated[list[AgentName], Field(min_length=1, max_length=MOST_ENTRANTS)] | None = None
    times: Annotated[int, Field(ge=1, le=MOST_ENTRANTS)] = 1


class BatchSpecBody(ApiBody):
    """`withNeeds`: also their dependencies; `ignoreNeeds`: without them. `settings` have the names of GET /api/settings."""

    mode: Mode | None = Field(default=None, strict=False)
    settings: SettingsGiven | None = None
    with_needs: bool = False
    ignore_needs: bool = False
    contest: ContestBody | None = None

    def build_spec(self, task_ids: Sequence[str]) -> BatchSpec:
        contest = self.contest
        return BatchSpec(
            tuple(task_ids),
            self.mode,
            self.settings or {},
            self.with_needs,
            self.ignore_needs,
            None if contest is None else Contest(tuple(contest.agents or ()), contest.times),
        )


class PlanBody(BatchSpecBody):
    """`taskIds` omitted: every incomplete task. All else as for a new batch."""

    task_ids: TaskIds | None = None

    def to_spec(self) -> BatchSpec:
        return self.build_spec(self.task_ids or ())


class BatchBody(BatchSpecBody):
    """`taskIds` are exact; `withNeeds`: also their dependencies, `ignoreNeeds`: without them."""

    task_ids: TaskIds

    def to_spec(self) -> BatchSpec:
        return self.build_spec(self.task_ids)


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
