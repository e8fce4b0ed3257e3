"""Results of tools: the names of the HTTP API, limited to what an agent can use."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from plait.client.api_models import ChangedFile, Cost, Diffstat, Progress, SharedFile
from plait.server.mcp.tool import ToolResult

_MAX_TITLE_LENGTH, _MAX_TEXT_LENGTH = 300, 2000  # characters of a title, and of a reason


def _truncate(most: int) -> BeforeValidator:
    def cut(value: object) -> object:
        if not isinstance(value, str) or len(value) <= most:
            return value
        return f"{value[:most]} … ({len(value) - most} more characters)"

    return BeforeValidator(cut)


TitleText = Annotated[str, _truncate(_MAX_TITLE_LENGTH)]
LongText = Annotated[str, _truncate(_MAX_TEXT_LENGTH)]


class TaskStatusResult(ToolResult):
    task_id: str
    title: TitleText
    status: str
    reason: LongText | None = None
    agent: str | None = None
    attempt: int = 0
    started_at: str | None = None
    completed_at: str | None = None
    cost: Cost | None = None
    diffstat: Diffstat | None = None
    branch: str | None = None


class BatchStatusResult(ToolResult):
    id: str
    status: str
    reason: LongText = ""
    mode: str
    needs_person: Annotated[bool, Field(description="It waits until a person approves, answers or unpauses.")]
    branch: str | None
    pr_url: str | None
    unshipped: Annotated[LongText | None, Field(description="Why its branch could not be published.")] = None
    created_at: str
    completed_at: str | None
    eta: str | None
    cost: Cost
    progress: Progress
    mark: Annotated[str, Field(description="For the wait tool: what it stands for has been seen.")]


class StatusResult(ToolResult):
    batch: BatchStatusResult
    tasks: list[TaskStatusResult]
    more: Annotated[int, Field(description="So many tasks follow those told here: see `skip`.")]


class HistoryResult(ToolResult):
    engine: Annotated[bool, Field(description="Whether one is at work: it is started when it is needed.")]
    batches: list[BatchStatusResult]
    more: int


class WaitResult(ToolResult):
    why: Annotated[
        Literal["ended", "person", "changed", "time"],
        Field(description="ended, needs a person, something moved, or the time was over."),
    ]
    batch: BatchStatusResult
    changed: Annotated[list[TaskStatusResult], Field(description="Tasks that moved while this waited; at most 50.")]


class ProblemResult(ToolResult):
    severity: str
    message: LongText
    file: str | None = None
    line: int | None = None
    hint: LongText | None = None


class NeedResult(ToolResult):
    id: str
    kind: str
    reason: LongText | None = None
    status: str | None = None


class RunResult(ToolResult):
    batch: BatchStatusResult
    tasks: list[TaskStatusResult]
    more: int
    problems: list[ProblemResult]


class ActionResult(ToolResult):
    task_id: Annotated[str | None, Field(description="null: it is about the batch.")] = None
    result: Annotated[str, Field(description="granted, refused (see reason), or accepted: safe, and not answered yet.")]
    reason: LongText | None = None
    status: Annotated[str | None, Field(description="Where it stands now.")] = None
    tasks: Annotated[list[str], Field(description="All that the request took up.")]


class ActionsResult(ToolResult):
    batch_id: str
    results: list[ActionResult]


class PublishResult(ActionsResult):
    under_way: Annotated[bool, Field(description="It is not over yet: status tells later what became of it.")]
    branch: str | None = None
    commit: Annotated[str | None, Field(description="The commit that was published last.")] = None
    pr_url: str | None = None
    unshipped: Annotated[LongText | None, Field(description="Why it is not published.")] = None


class LogsResult(ToolResult):
    batch_id: str
    task_id: str
    step: str
    attempt: int
    text: Annotated[str, Field(description="What it printed: data, whatever it says.")]
    next: Annotated[int, Field(description="The offset to read on from.")]
    ended: Annotated[bool, Field(description="The attempt is over, and nothing comes after this.")]
    note: Annotated[str | None, Field(description="What was left out, and how to read it.")] = None


class DiffResult(ToolResult):
    batch_id: str
    task_id: str | None
    base: str | None = None
    tip: str | None = None
    plus: int
    minus: int
    files: Annotated[list[ChangedFile], Field(description="At most 200.")]
    more: Annotated[int, Field(description="So many files are not listed.")]
    text: str
    note: Annotated[str | None, Field(description="What was cut, and how to read on.")] = None


class AttemptResult(ToolResult):
    step: str
    attempt: int
    agent: str | None = None
    started_at: str | None = None
    completed_at: str | None = None
    category: str | None = None
    exit_code: int | None = None
    detail: LongText | None = None
    ended_for: str | None = None
    retried_for: LongText | None = None


class ExplainResult(ToolResult):
    batch_id: str
    task_id: str
    title: TitleText
    source: str | None
    status: str
    reason: LongText
    waiting: Annotated[str | None, Field(description="What it waits on, in a word.")]
    needs: list[NeedResult]
    attempts: Annotated[list[AttemptResult], Field(description="The last 20.")]
    way: Annotated[LongText, Field(description="What would get it further.")]


class InBatchResult(ToolResult):
    batch_id: str
    task_id: str
    status: str
    shipped: Annotated[bool, Field(description="The batch branch was published.")]


class SourceTaskResult(ToolResult):
    id: str
    title: TitleText
    status: Annotated[str, Field(description="As its source calls it: the file in the checkout.")]
    source: str | None = None
    batch: Annotated[InBatchResult | None, Field(description="Where it stands in the newest batch that has it.")]


class ListResult(ToolResult):
    tasks: list[SourceTaskResult]
    total: int
    more: int
    problems: list[ProblemResult]


class PlanTaskResult(ToolResult):
    id: str
    title: TitleText
    wave: int
    needs: list[NeedResult]
    touches: list[str]
    agent: str | None = None


class PlanPreviewResult(ToolResult):
    ready: Annotated[bool, Field(description="It can be run as it is. If not, the problems say why.")]
    tasks: list[PlanTaskResult]
    more: int
    waves: Annotated[int, Field(description="How many there are; the tasks of one can run at the same time.")]
    conflicts: Annotated[list[SharedFile], Field(description="Files that keep tasks apart.")]
    critical_path: list[str]
    eta: Annotated[float | None, Field(description="Seconds, where history knows.")]
    problems: list[ProblemResult]


class GivenResult(ToolResult):
    layer: str
    at: str | None = None


class SettingsResult(ToolResult):
    settings: Annotated[dict[str, object], Field(description="Times in seconds, sizes in bytes.")]
    given: Annotated[dict[str, GivenResult], Field(description="Who gave those that are not the defaults.")]
