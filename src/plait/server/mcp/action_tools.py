"""The tools that ask for something: each returns what became of it, task by task."""

from __future__ import annotations

from collections.abc import Sequence

from plait.core.settings import Mode, Publish
from plait.core.state import State
from plait.server.mcp.params import (
    WAIT_TOOL_SECONDS,
    ApproveParams,
    BatchParams,
    CancelParams,
    DropParams,
    FeedbackParams,
    PublishParams,
    RetryParams,
    RunParams,
)
from plait.server.mcp.results import ActionsResult, PublishResult, RunResult
from plait.server.mcp.snapshot import describe_batch, poll_until, read_batch_summary
from plait.server.mcp.tool import Json, ToolCall
from plait.server.service.actions import (
    BatchAction,
    TaskAction,
    publish_batch,
    run_batch_action,
    run_bulk_action,
    run_task_action,
)
from plait.server.service.batch_spec import BatchSpec
from plait.server.service.batches import create_batch, read_batch
from plait.server.service.lookup import resolve_batch, resolve_task

MAX_LISTED_TASKS = 50  # tasks that are told of a new batch


async def run(call: ToolCall, params: RunParams) -> RunResult:
    order = BatchSpec(params.tasks or (), Mode(params.mode), params.settings or {})
    made = await create_batch(call.session, order)
    _, batch, tasks = await describe_batch(call.session, str(made["id"]))
    return RunResult.model_validate(
        {
            "batch": batch,
            "tasks": tasks[:MAX_LISTED_TASKS],
            "more": len(tasks[MAX_LISTED_TASKS:]),
            "problems": made["problems"],
        }
    )


async def cancel(call: ToolCall, params: CancelParams) -> ActionsResult:
    return await _run_action(call, params.batch, params.tasks, TaskAction.CANCEL, BatchAction.CANCEL)


async def approve(call: ToolCall, params: ApproveParams) -> ActionsResult:
    return await _run_action(call, params.batch, params.tasks, TaskAction.APPROVE, BatchAction.APPROVE)


async def retry(call: ToolCall, params: RetryParams) -> ActionsResult:
    return await _run_action(call, params.batch, params.tasks, TaskAction.RETRY, BatchAction.RETRY, agent=params.agent)


async def drop(call: ToolCall, params: DropParams) -> ActionsResult:
    return await _run_on_tasks(call, params.batch, params.tasks, TaskAction.DROP)


async def pause(call: ToolCall, params: BatchParams) -> ActionsResult:
    return _actions_result(await run_batch_action(call.session, params.batch, BatchAction.PAUSE))


async def unpause(call: ToolCall, params: BatchParams) -> ActionsResult:
    return _actions_result(await run_batch_action(call.session, params.batch, BatchAction.UNPAUSE))


async def resume(call: ToolCall, params: BatchParams) -> ActionsResult:
    return _actions_result(await run_batch_action(call.session, params.batch, BatchAction.RESUME))


async def feedback(call: ToolCall, params: FeedbackParams) -> ActionsResult:
    return _actions_result(
        await run_task_action(call.session, params.batch, params.task, TaskAction.FEEDBACK, text=params.text)
    )


async def pull_request(call: ToolCall, params: PublishParams) -> PublishResult:
    """Publishing goes on by itself; whoever asked wants the link."""
    publish = Publish.PUSH if params.push else Publish.DRAFT if params.draft else Publish.PR
    asked = await publish_batch(call.session, params.batch, publish, title=params.title, body=params.body)
    name = str(asked["batchId"])
    seen = await poll_until(
        call,
        lambda: read_batch_summary(call.session, name),
        lambda now: not now.publishing,
        WAIT_TOOL_SECONDS,
    )
    found, _ = await read_batch(call.session, name)
    return PublishResult.model_validate({**asked, **found, "underWay": seen.publishing, "commit": found["shipped"]})


async def _run_action(  # noqa: PLR0913 - what is asked of whom
    call: ToolCall,
    batch: str | None,
    tasks: Sequence[str] | None,
    of_task: TaskAction,
    of_batch: BatchAction,
    *,
    agent: str | None = None,
) -> ActionsResult:
    """Without tasks, of the batch as a whole."""
    if tasks:
        return await _run_on_tasks(call, batch, tasks, of_task, agent=agent)
    return _actions_result(await run_batch_action(call.session, batch, of_batch, agent=agent))


async def _run_on_tasks(
    call: ToolCall, batch: str | None, tasks: Sequence[str], action: TaskAction, *, agent: str | None = None
) -> ActionsResult:
    """All of them are known before anything is asked for. Raises UnknownError otherwise, and nothing is done."""

    def named(state: State) -> tuple[str, list[str]]:
        found = resolve_batch(state, batch)
        return found.id, [resolve_task(found, word).task.id for word in tasks]

    name, ids = await call.session.query(lambda client: named(client.preview_state()))
    return _actions_result(
        await run_bulk_action(call.session, action, ids, batch=name, agent=agent) | {"batchId": name}
    )


def _actions_result(found: Json) -> ActionsResult:
    return ActionsResult.model_validate(found)
