"""Results of tools: fields of the HTTP API's models, limited to what an agent can use."""

from __future__ import annotations

import functools
import operator
from enum import Enum
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from plait.client.api_models import Dependency, ProblemDetails, SharedFile
from plait.client.batch_json import BatchHead, BatchTask, TaskRun
from plait.client.conflicts import ConflictFile, TaskConflict
from plait.client.diff import ChangedFile, FullDiff
from plait.client.full_explanation import AttemptSummary, DependencyStatus, Explanation
from plait.client.planning.plan_preview import PlanDetails, PlanTask
from plait.client.preferences import SettingOrigin
from plait.client.task_actions import ActionResult
from plait.client.task_listing import SourceTask

_MAX_TITLE_LENGTH, _MAX_TEXT_LENGTH = 300, 2000  # characters of a title, and of a reason


def _truncate(limit: int) -> BeforeValidator:
    def cut(value: object) -> object:
        if not isinstance(value, str) or len(value) <= limit:
            return value
        return f"{value[:limit]} … ({len(value) - limit} more characters)"

    return BeforeValidator(cut)


TitleText = Annotated[str, _truncate(_MAX_TITLE_LENGTH)]
LongText = Annotated[str, _truncate(_MAX_TEXT_LENGTH)]

_TEXT_TYPES = {"title": TitleText} | dict.fromkeys(
    ("detail", "hint", "message", "reason", "retried_for", "unshipped", "way"), LongText
)
_RESULT_TYPES: dict[type, type[ToolResult]] = {}  # by the model whose fields they have


class ToolResult(BaseModel):
    """A tool's result, with the names of the HTTP API. `fields`, separated by spaces, are the ones copied from a JSON
    model, in its types: long texts are cut, enums become their values, and models become the results that have their
    fields.
    """

    model_config = ConfigDict(
        extra="ignore", frozen=True, alias_generator=to_camel, populate_by_name=True, from_attributes=True
    )

    def __init_subclass__(
        cls, *, model: type | None = None, fields: str = "", **options: Any
    ) -> None:  # pydantic's own
        super().__init_subclass__(**options)
        if model is not None:
            hints = get_type_hints(model)
            derived = {name: _derive_type(name, hints[name]) for name in fields.split()}
            cls.__annotations__ = {**derived, **cls.__annotations__}
            _RESULT_TYPES[model] = cls


def _derive_type(name: str, hint: Any) -> Any:  # a type
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is list:
        return list[_derive_type(name, arguments[0])]  # type: ignore[misc]  # as it is made just now
    if origin in (Union, UnionType):
        return functools.reduce(operator.or_, (_derive_type(name, argument) for argument in arguments))
    if hint is str:
        return _TEXT_TYPES.get(name, str)
    if issubclass(hint, Enum):
        return str
    return _RESULT_TYPES.get(hint, hint)


class TaskStatusResult(
    ToolResult,
    model=BatchTask,
    fields="task_id title status reason agent attempt started_at completed_at cost diffstat branch",
): ...


class BatchStatusResult(
    ToolResult,
    model=BatchHead,
    fields="status reason mode branch pr_url created_at completed_at eta cost progress",
):
    id: str
    needs_person: Annotated[bool, Field(description="It waits until a person approves, answers or unpauses.")]
    unshipped: Annotated[LongText | None, Field(description="Why its branch could not be published.")] = None
    mark: Annotated[str, Field(description="For the wait tool: identifies the state that was returned.")]


class StatusResult(ToolResult):
    batch: BatchStatusResult
    tasks: list[TaskStatusResult]
    more: Annotated[int, Field(description="Number of tasks after these: see `skip`.")]


class HistoryResult(ToolResult):
    engine: Annotated[bool, Field(description="Whether one is running: it is started when it is needed.")]
    batches: list[BatchStatusResult]
    more: int


class WaitResult(ToolResult):
    why: Annotated[
        Literal["ended", "person", "changed", "time"],
        Field(description="ended, needs a person, something changed, or the time was over."),
    ]
    batch: BatchStatusResult
    changed: Annotated[list[TaskStatusResult], Field(description="Tasks that changed while this waited; at most 50.")]


class ProblemResult(ToolResult, model=ProblemDetails, fields="severity message file line hint"): ...


class NeedResult(ToolResult, model=DependencyStatus, fields="id kind reason"):
    status: str | None = None


_RESULT_TYPES[Dependency] = NeedResult  # in a plan, where no task has a status yet


class RunResult(ToolResult):
    batch: BatchStatusResult
    tasks: list[TaskStatusResult]
    more: int
    problems: list[ProblemResult]


class ActionToolResult(ToolResult, model=ActionResult, fields="reason"):
    task_id: Annotated[str | None, Field(description="null: it is about the batch.")] = None
    result: Annotated[str, Field(description="granted, refused (see reason), or accepted: safe, and not answered yet.")]
    status: Annotated[str | None, Field(description="Its current status.")] = None
    tasks: Annotated[list[str], Field(description="All tasks that the request is about.")]


class ActionsResult(ToolResult):
    batch_id: str
    results: list[ActionToolResult]


class PublishResult(ActionsResult):
    under_way: Annotated[bool, Field(description="It has not ended yet: status shows the result later.")]
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
    next: Annotated[int, Field(description="The offset to continue from.")]
    ended: Annotated[bool, Field(description="The attempt has ended, and nothing comes after this.")]
    note: Annotated[str | None, Field(description="What was left out, and how to read it.")] = None


class DiffResult(ToolResult, model=FullDiff, fields="batch_id task_id base tip plus minus"):
    files: Annotated[list[ChangedFile], Field(description="At most 200.")]
    more: Annotated[int, Field(description="Number of files that are not listed.")]
    text: str
    note: Annotated[str | None, Field(description="What was cut, and how to continue.")] = None


class ConflictFileResult(ToolResult, model=ConflictFile, fields="path kind merged touched_by sides editable"): ...


class ConflictResult(ToolResult, model=TaskConflict, fields="batch_id task_id tip"):
    with_: Annotated[str, Field(alias="with", description="The commit of the batch branch it conflicts with.")]
    files: Annotated[
        list[ConflictFileResult], Field(description="At most 200. `merged` has both sides between markers.")
    ]
    more: Annotated[int, Field(description="Number of files that are not listed.")]
    note: Annotated[str | None, Field(description="Whose text was left out.")] = None


class AttemptResult(
    ToolResult,
    model=AttemptSummary,
    fields="step attempt agent started_at completed_at category exit_code detail ended_for retried_for",
): ...


class ExplainResult(ToolResult, model=Explanation, fields="batch_id task_id title source status reason needs"):
    waiting: Annotated[str | None, Field(description="What it waits on, in a word.")]
    attempts: Annotated[list[AttemptResult], Field(description="The last 20.")]
    way: Annotated[LongText, Field(description="What would make it continue.")]


class InBatchResult(ToolResult, model=TaskRun, fields="batch_id task_id status"):
    shipped: Annotated[bool, Field(description="The batch branch was published.")]


class SourceTaskResult(ToolResult, model=SourceTask, fields="id title source"):
    status: Annotated[str, Field(description="As in its source: the file in the checkout.")]
    batch: Annotated[InBatchResult | None, Field(description="Its status in the newest batch that has it.")]


class ListResult(ToolResult):
    tasks: list[SourceTaskResult]
    total: int
    more: int
    problems: list[ProblemResult]


class PlanTaskResult(ToolResult, model=PlanTask, fields="id title wave needs touches agent"): ...


class PlanPreviewResult(ToolResult, model=PlanDetails, fields="critical_path problems"):
    ready: Annotated[bool, Field(description="It can be run as it is. If not, the problems say why.")]
    tasks: list[PlanTaskResult]
    more: int
    waves: Annotated[int, Field(description="How many there are; the tasks of one can run at the same time.")]
    conflicts: Annotated[list[SharedFile], Field(description="Files that keep tasks apart.")]
    eta: Annotated[float | None, Field(description="Seconds, if history allows an estimate.")]


class OriginResult(ToolResult, model=SettingOrigin, fields="layer at"): ...


class SettingsResult(ToolResult):
    settings: Annotated[dict[str, object], Field(description="Durations in seconds, sizes in bytes.")]
    given: Annotated[dict[str, OriginResult], Field(description="Where those that are not defaults come from.")]
