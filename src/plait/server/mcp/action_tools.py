"""Tools that change something; each returns the result for every task."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field, JsonValue

from plait.core.errors import UserError
from plait.core.requests import MAX_OVERRIDE_BODY_CHARS, MAX_OVERRIDE_TITLE_CHARS
from plait.core.settings import Mode
from plait.core.state import State
from plait.server.batch_spec import RecheckFields, RetryFields
from plait.server.http.routes.actions import (
    ACTIONS,
    ActionOptions,
    ActionSpec,
    TaskAction,
    make_action_options,
    run_batch_action,
    run_task_action,
)
from plait.server.http.routes.batches import submit_batch
from plait.server.http.routes.bulk import run_bulk_action
from plait.server.http.routes.conflicts import FileResolution, ResolveBody, find_resolvable, resolve_task_conflict
from plait.server.http.routes.publishing import ShipBody, describe_publishing, publish_batch
from plait.server.lookup import resolve_batch, resolve_task
from plait.server.mcp.results import ActionsResult, PublishResult, RunResult
from plait.server.mcp.snapshot import WAIT_TOOL_SECONDS, describe_batch, poll_until, read_batch_summary
from plait.server.mcp.tool import (
    AGAIN,
    EXACT_IDS,
    BatchParams,
    NamesArg,
    TaskParams,
    Tool,
    ToolCall,
    ToolParams,
    define_tool,
    make_batch_spec,
)

MAX_LISTED_TASKS = 50  # tasks in the answer of `run`


class RunParams(ToolParams):
    tasks: NamesArg | None = Field(None, description=EXACT_IDS)
    mode: Literal["parallel", "queue"] = Field(
        "parallel", description="queue: one at a time, each after it is approved."
    )
    settings: dict[str, JsonValue] | None = Field(
        None, description='Settings for this batch only, e.g. {"verify": "make test", "maxBatchSize": 2}.'
    )
    again: bool | None = Field(None, description=AGAIN)


@define_tool("run", open_world=True, needs_fetch=True)
async def run(call: ToolCall, params: RunParams) -> RunResult:
    """Start a batch of tasks. It returns as soon as the batch is accepted; the batch runs in the background. It
    costs what the agents cost. Refused while another open batch has one of the tasks.
    """
    spec = make_batch_spec(params.tasks, params.settings, Mode(params.mode), again=params.again)
    created = await submit_batch(call.session, spec)
    _, batch, tasks = await describe_batch(call.session, created.id)
    return RunResult.model_validate(
        {
            "batch": batch,
            "tasks": tasks[:MAX_LISTED_TASKS],
            "more": len(tasks[MAX_LISTED_TASKS:]),
            "problems": created.problems,
        }
    )


class CancelParams(BatchParams):
    tasks: NamesArg | None = Field(None, description="Their ids. Omitted: the whole batch.")


class ApproveParams(BatchParams):
    tasks: NamesArg | None = Field(None, description="Omitted: the next task.")


class RetryParams(BatchParams, RetryFields):
    tasks: NamesArg | None = Field(
        None, description="Omitted: all that failed, timed out, conflicted or were cancelled."
    )


class RecheckParams(BatchParams, RecheckFields):
    tasks: NamesArg | None = Field(None, description="Omitted: all with finished work that isn't merged.")


class DropParams(BatchParams):
    tasks: NamesArg = Field(description="Their ids.")


class FeedbackParams(TaskParams):
    text: str = Field(description="Feedback for a new attempt, or the answer to the agent's question.", min_length=1)


# Actions without parameters of their own take the batch alone.
_PARAMS: dict[str, type[BatchParams]] = {
    "cancel": CancelParams,
    "approve": ApproveParams,
    "retry": RetryParams,
    "recheck": RecheckParams,
    "feedback": FeedbackParams,
    "drop": DropParams,
}


def _define_action_tool(spec: ActionSpec) -> Tool:
    async def act(call: ToolCall, params: BatchParams) -> ActionsResult:
        given = params if isinstance(params, RecheckFields) else None
        options = make_action_options(given, text=getattr(params, "text", ""))
        if isinstance(params, FeedbackParams):
            action = TaskAction.FEEDBACK
            answered = await run_task_action(call.session, params.batch, params.task, action, options)
            return ActionsResult.model_validate(answered)
        if tasks := getattr(params, "tasks", None):
            return await _run_on_tasks(call, params.batch, tasks, TaskAction(spec.name), options)
        answered = await run_batch_action(call.session, params.batch, spec, options)
        return ActionsResult.model_validate(answered)

    act.__annotations__["params"] = _PARAMS.get(spec.name, BatchParams)
    return define_tool(
        spec.name,
        description=spec.tool,
        destructive=spec.destructive,
        idempotent=spec.idempotent,
        open_world=spec.open_world,
    )(act)


class PublishParams(BatchParams):
    draft: bool = Field(default=False, description="Open it as a draft.")
    push: bool = Field(default=False, description="Only push the branch, without a pull request.")
    title: str | None = Field(
        None,
        description="The title of the pull request. Omitted: the one given last, or plait's own.",
        min_length=1,
        max_length=MAX_OVERRIDE_TITLE_CHARS,
    )
    body: str | None = Field(
        None,
        description="Its text, in markdown. Omitted: the one given last, or plait's own, with all tasks.",
        max_length=MAX_OVERRIDE_BODY_CHARS,
    )


@define_tool("pull_request", idempotent=True, open_world=True)
async def pull_request(call: ToolCall, params: PublishParams) -> PublishResult:
    """Push the batch branch and open or update its pull request. Others will see it. It returns when that is done,
    or after 45 seconds.
    """
    # Publishing continues by itself; waiting for it gives the link.
    body = ShipBody(
        publish="push" if params.push else "draft" if params.draft else "pr", title=params.title, body=params.body
    )
    published = await publish_batch(call.session, params.batch, body)
    await poll_until(
        call,
        lambda: read_batch_summary(call.session, published.batch_id),
        lambda summary: not summary.publishing,
        WAIT_TOOL_SECONDS,
    )
    return PublishResult.model_validate(
        await call.session.query(lambda client: describe_publishing(client.preview_state(), published))
    )


async def _run_on_tasks(
    call: ToolCall, batch: str | None, tasks: Sequence[str], action: TaskAction, options: ActionOptions
) -> ActionsResult:
    """Run an action on tasks. Raises NotFoundError for an unknown task before any request is sent."""

    def resolve(state: State) -> tuple[str, list[str]]:
        batch_state = resolve_batch(state, batch)
        return batch_state.id, [resolve_task(batch_state, prefix).task.id for prefix in tasks]

    name, ids = await call.session.query(lambda client: resolve(client.preview_state()))
    answered = await run_bulk_action(call.session, action, ids, name, options)
    return ActionsResult.model_validate({"batch_id": name, "results": answered.results})


class ResolveParams(TaskParams):
    files: tuple[FileResolution, ...] | None = Field(
        None, description="For each file a side (the batch branch's version, or the task's) or its whole new text."
    )
    rest: Literal["batch", "task"] | None = Field(None, description="The side to take of all other files.")
    with_: str | None = Field(None, alias="with", description="Of `conflict`; needed for texts.")
    tip: str | None = Field(None, description="Of `conflict`; needed for texts.")


@define_tool("resolve")
async def resolve(call: ToolCall, params: ResolveParams) -> ActionsResult:
    """Resolve a task's conflict with the batch branch. The result is verified and merged, without an agent; `retry` has
    an agent repair the conflict instead. Ask a person which side counts. It is refused if `with` or `tip` has changed.
    """
    files = params.files or ()
    if any(file.text is not None for file in files) and not (params.with_ and params.tip):
        raise UserError("texts need `with` and `tip`", hint="Read `conflict`: they say which conflict was edited.")
    conflict = await find_resolvable(call.session, params.batch, params.task)
    onto, change = conflict.merge.onto, conflict.merge.change
    body = ResolveBody.model_validate(
        {"with": params.with_ or onto, "tip": params.tip or change.tip, "files": [*files], "rest": params.rest}
    )
    answered = await resolve_task_conflict(call.session, conflict.batch, change.task, body)
    return ActionsResult.model_validate(answered)


ACTION_TOOLS = (run, *map(_define_action_tool, ACTIONS), resolve, pull_request)
