"""Orders, and the plan that would come of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, JsonValue

from plait.core.contest import MAX_ENTRANTS as MOST_ENTRANTS, Contest
from plait.core.settings import Mode
from plait.core.task import NeedKind
from plait.server.http.schema.base import Problem
from plait.server.http.schema.base__shape import ApiBody, ApiModel
from plait.server.http.schema.batches import Cost
from plait.server.service.batch_spec import BatchSpec
from plait.sources.source_model import SourceStatus

MAX_TASKS = 10_000  # tasks

TaskId = Annotated[str, Field(min_length=1, max_length=10_000)]
AgentName = Annotated[str, Field(min_length=1, max_length=200)]
TaskIds = Annotated[list[TaskId], Field(min_length=1, max_length=MAX_TASKS)]
SettingsGiven = Annotated[
    dict[str, JsonValue],
    Field(description="By the names of GET /api/settings; null: not given", max_length=100),
]


class ContestBody(ApiBody):
    """Every task by each of these agents, each so often: the best result is merged. `agents` left out: those of the settings."""

    agents: Annotated[list[AgentName], Field(min_length=1, max_length=MOST_ENTRANTS)] | None = None
    times: Annotated[int, Field(ge=1, le=MOST_ENTRANTS)] = 1


class BatchSpecBody(ApiBody):
    """`withNeeds`: and whatever they need; `ignoreNeeds`: without it. `settings` are by the names of GET /api/settings."""

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
    """`taskIds` left out: every task that is not complete. All else as for a new batch."""

    task_ids: TaskIds | None = None

    def to_spec(self) -> BatchSpec:
        return self.build_spec(self.task_ids or ())


class BatchBody(BatchSpecBody):
    """`taskIds` are exact; `withNeeds`: and whatever they need, `ignoreNeeds`: without it."""

    task_ids: TaskIds

    def to_spec(self) -> BatchSpec:
        return self.build_spec(self.task_ids)


class NeedShape(ApiModel):
    """`at` is where it was said: `file:line`."""

    id: str
    kind: NeedKind
    reason: str
    at: str | None


class PlanTask(ApiModel):
    id: str
    title: str
    status: SourceStatus
    source: str | None
    needs: list[NeedShape]
    touches: list[str]
    phase: str | None
    wave: int
    weight: float
    agent: str | None
    entrant_of: str | None


class SharedFile(ApiModel):
    """Its tasks run one after another."""

    file: str
    tasks: list[str]


class PhaseShape(ApiModel):
    id: str
    title: str
    after: list[str]
    total: int
    settled: int
    gate: float | None
    opens_with: str | None


class PlanShape(ApiModel):
    """As `plan --json`. Without a plan there are no tasks, and the problems say why; with one and an error, it can't be
    started now. `eta` (in seconds) and `cost` are told where history knows them.
    """

    tasks: list[PlanTask]
    waves: list[list[str]]
    conflicts: list[SharedFile]
    critical_path: list[str]
    phases: list[PhaseShape]
    eta: float | None
    cost: Cost | None
    problems: list[Problem]
