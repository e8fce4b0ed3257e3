"""Parameters of tools. Agents read the descriptions: each says what it means, and what the default is."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, JsonValue

from plait.core.requests import MAX_OVERRIDE_BODY_CHARS, MAX_OVERRIDE_TITLE_CHARS
from plait.core.settings import Mode
from plait.server.batch_spec import BatchSpec
from plait.server.mcp.tool import ToolParams

DEFAULT_OUTPUT_LENGTH, MAX_OUTPUT_LENGTH = 20_000, 64 << 10  # characters of a log or a diff in one answer
WAIT_TOOL_SECONDS = 45  # hosts give up on a tool after a minute
MAX_WAIT_TOOL_SECONDS = 600


def _parse_list(value: object) -> object:
    """Some hosts encode a list as a string, and some agents give one id instead of a list."""
    if not isinstance(value, str):
        return value
    try:
        read = json.loads(value) if value.startswith("[") else None
    except (ValueError, RecursionError):
        read = None
    return read if isinstance(read, list) else [value]


BatchArg = Annotated[
    str | None,
    Field(description="The batch's id or a unique prefix. Omitted: the newest batch.", max_length=200),
]
NameArg = Annotated[str, Field(min_length=1, max_length=1000)]
TaskArg = Annotated[NameArg, Field(description="The task's id or a unique prefix.")]
# An empty list is an error: omitting it means all.
NamesArg = Annotated[tuple[NameArg, ...], Field(min_length=1, max_length=10_000), BeforeValidator(_parse_list)]
Limit = Annotated[int, Field(description="The most tasks to return.", ge=1, le=500)]
Skip = Annotated[int, Field(description="Skip this many tasks, for the next page.", ge=0)]


class BatchParams(ToolParams):
    batch: BatchArg = None


class ListParams(ToolParams):
    words: Annotated[str | None, Field(description="Only tasks whose id or title contains this.", max_length=200)] = (
        None
    )
    complete: Annotated[bool, Field(description="Also tasks that are complete in their source.")] = False
    limit: Limit = 50
    skip: Skip = 0


class PlanParams(ToolParams):
    tasks: Annotated[
        NamesArg | None,
        Field(description="Exact ids, as `list` returns them. Omitted: all incomplete tasks."),
    ] = None
    settings: Annotated[
        dict[str, JsonValue] | None,
        Field(description="Settings for this batch only, by the names of the settings tool."),
    ] = None
    limit: Limit = 100
    skip: Skip = 0


class RunParams(ToolParams):
    tasks: Annotated[
        NamesArg | None,
        Field(description="Exact ids, as `list` returns them. Omitted: all incomplete tasks."),
    ] = None
    mode: Annotated[
        Literal["parallel", "queue"],
        Field(description="queue: one at a time, each after it is approved."),
    ] = "parallel"
    settings: Annotated[
        dict[str, JsonValue] | None,
        Field(description='Settings for this batch only, e.g. {"verify": "make test", "maxBatchSize": 2}.'),
    ] = None


def make_batch_spec(
    tasks: Sequence[str] | None, settings: Mapping[str, JsonValue] | None, mode: Mode | None = None
) -> BatchSpec:
    return BatchSpec.model_validate({"taskIds": list(tasks) if tasks else None, "settings": settings, "mode": mode})


class StatusParams(BatchParams):
    tasks: Annotated[NamesArg | None, Field(description="Only these tasks. Omitted: all.")] = None
    only: Annotated[
        NamesArg | None,
        Field(description='Only tasks with one of these statuses, e.g. ["failed", "waiting"].'),
    ] = None
    limit: Limit = 50
    skip: Skip = 0


class HistoryParams(ToolParams):
    limit: Annotated[int, Field(description="How many, newest first.", ge=1, le=200)] = 20


class WaitParams(BatchParams):
    until: Annotated[
        Literal["end", "change"],
        Field(description="end: until it has ended or needs a person. change: until any task changes."),
    ] = "end"
    seconds: Annotated[
        float,
        Field(
            description="How long to wait; after that `why` is `time`: call it again.",
            ge=0,
            le=MAX_WAIT_TOOL_SECONDS,
        ),
    ] = WAIT_TOOL_SECONDS
    mark: Annotated[
        str | None,
        Field(
            description="The mark of an earlier result: with `change`, changes since then count too.",
            max_length=100,
        ),
    ] = None


class TaskParams(BatchParams):
    task: TaskArg


class LogsParams(TaskParams):
    attempt: Annotated[int | None, Field(description="The number of the attempt. Omitted: the newest.", ge=1)] = None
    step: Annotated[Literal["write", "verify"], Field(description="verify: the output of the verification.")] = "write"
    lines: Annotated[int, Field(description="How many of the last lines, if there is no offset.", ge=1, le=1000)] = 100
    offset: Annotated[
        int | None,
        Field(description="Where to start: the `next` of an earlier result; 0: the beginning.", ge=0),
    ] = None
    raw: Annotated[
        bool,
        Field(description="True: the raw output, also if the agent prints JSON. False: its messages and actions."),
    ] = False


class DiffParams(BatchParams):
    task: Annotated[NameArg | None, Field(description="Omitted: the changes of the whole batch.")] = None
    text: Annotated[bool, Field(description="False: only the files with their line counts.")] = True
    most: Annotated[
        int,
        Field(
            description="The maximum number of characters; longer text is cut, with a note.",
            ge=200,
            le=MAX_OUTPUT_LENGTH,
        ),
    ] = DEFAULT_OUTPUT_LENGTH
    offset: Annotated[int, Field(description="Skip this many characters, to continue where it was cut.", ge=0)] = 0


class CancelParams(BatchParams):
    tasks: Annotated[NamesArg | None, Field(description="Their ids. Omitted: the whole batch.")] = None


class ApproveParams(BatchParams):
    tasks: Annotated[NamesArg | None, Field(description="Omitted: the next task.")] = None


class RetryParams(BatchParams):
    tasks: Annotated[
        NamesArg | None,
        Field(description="Omitted: all that failed, timed out, conflicted or were cancelled."),
    ] = None
    agent: Annotated[str | None, Field(description="Use this agent. Omitted: the same as before.", max_length=200)] = (
        None
    )


class DropParams(BatchParams):
    tasks: Annotated[NamesArg, Field(description="Their ids.")]


class FeedbackParams(TaskParams):
    text: Annotated[
        str,
        Field(
            description="Feedback for a new attempt, or the answer to the agent's question.",
            min_length=1,
        ),
    ]


class PublishParams(BatchParams):
    draft: Annotated[bool, Field(description="Open it as a draft.")] = False
    push: Annotated[bool, Field(description="Only push the branch, without a pull request.")] = False
    title: Annotated[
        str | None,
        Field(
            description="The title of the pull request. Omitted: the one given last, or plait's own.",
            min_length=1,
            max_length=MAX_OVERRIDE_TITLE_CHARS,
        ),
    ] = None
    body: Annotated[
        str | None,
        Field(
            description="Its text, in markdown. Omitted: the one given last, or plait's own, with all tasks.",
            max_length=MAX_OVERRIDE_BODY_CHARS,
        ),
    ] = None


class SettingsParams(ToolParams):
    names: Annotated[NamesArg | None, Field(description="Only these. Omitted: all.")] = None
