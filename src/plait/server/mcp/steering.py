"""The tools that ask for something: each returns what became of it, task by task."""

from __future__ import annotations

from collections.abc import Sequence

from plait.core.settings import Mode, Publish
from plait.core.state import State
from plait.server.acts.batches import create, one
from plait.server.acts.bulk import bulk
from plait.server.acts.naming import the_batch, the_task
from plait.server.acts.order import Order
from plait.server.acts.steer import BatchAction, TaskAction, batch_action, ship, task_action
from plait.server.mcp.outline import glance, told
from plait.server.mcp.told import AnswersTold, RunTold, ShipTold
from plait.server.mcp.tool import Call, Json
from plait.server.mcp.waiting import until
from plait.server.mcp.wanted import (
    PATIENCE,
    ApproveWanted,
    DropWanted,
    FeedbackWanted,
    OfBatch,
    RetryWanted,
    RunWanted,
    ShipWanted,
    SomeTasks,
)

MOST = 50  # tasks that are told of a new batch


async def run(call: Call, wanted: RunWanted) -> RunTold:
    order = Order(wanted.tasks or (), Mode(wanted.mode), wanted.settings or {})
    made = await create(call.office, order)
    _, batch, tasks = await told(call.office, str(made["id"]))
    return RunTold.model_validate(
        {"batch": batch, "tasks": tasks[:MOST], "more": len(tasks[MOST:]), "problems": made["problems"]}
    )


async def cancel(call: Call, wanted: SomeTasks) -> AnswersTold:
    return await _asked(call, wanted.batch, wanted.tasks, TaskAction.CANCEL, BatchAction.CANCEL)


async def approve(call: Call, wanted: ApproveWanted) -> AnswersTold:
    return await _asked(call, wanted.batch, wanted.tasks, TaskAction.APPROVE, BatchAction.APPROVE)


async def retry(call: Call, wanted: RetryWanted) -> AnswersTold:
    return await _asked(
        call, wanted.batch, wanted.tasks, TaskAction.RETRY, BatchAction.RETRY, agent=wanted.agent
    )


async def drop(call: Call, wanted: DropWanted) -> AnswersTold:
    return await _each(call, wanted.batch, wanted.tasks, TaskAction.DROP)


async def pause(call: Call, wanted: OfBatch) -> AnswersTold:
    return _answers(await batch_action(call.office, wanted.batch, BatchAction.PAUSE))


async def unpause(call: Call, wanted: OfBatch) -> AnswersTold:
    return _answers(await batch_action(call.office, wanted.batch, BatchAction.UNPAUSE))


async def resume(call: Call, wanted: OfBatch) -> AnswersTold:
    return _answers(await batch_action(call.office, wanted.batch, BatchAction.RESUME))


async def feedback(call: Call, wanted: FeedbackWanted) -> AnswersTold:
    return _answers(
        await task_action(call.office, wanted.batch, wanted.task, TaskAction.FEEDBACK, text=wanted.text)
    )


async def pull_request(call: Call, wanted: ShipWanted) -> ShipTold:
    """Publishing goes on by itself; whoever asked wants the link."""
    publish = Publish.PUSH if wanted.push else Publish.DRAFT if wanted.draft else Publish.PR
    asked = await ship(call.office, wanted.batch, publish, title=wanted.title, body=wanted.body)
    name = str(asked["batchId"])
    seen = await until(call, lambda: glance(call.office, name), lambda now: not now.publishing, PATIENCE)
    found = await one(call.office, name)
    return ShipTold.model_validate(
        {**asked, **found, "underWay": seen.publishing, "commit": found["shipped"]}
    )


async def _asked(  # noqa: PLR0913 - what is asked of whom
    call: Call,
    batch: str | None,
    tasks: Sequence[str] | None,
    of_task: TaskAction,
    of_batch: BatchAction,
    *,
    agent: str | None = None,
) -> AnswersTold:
    """Without tasks, of the batch as a whole."""
    if tasks:
        return await _each(call, batch, tasks, of_task, agent=agent)
    return _answers(await batch_action(call.office, batch, of_batch, agent=agent))


async def _each(
    call: Call, batch: str | None, tasks: Sequence[str], action: TaskAction, *, agent: str | None = None
) -> AnswersTold:
    """All of them are known before anything is asked for. Raises UnknownError otherwise, and nothing is done."""

    def named(state: State) -> tuple[str, list[str]]:
        found = the_batch(state, batch)
        return found.id, [the_task(found, word).task.id for word in tasks]

    name, ids = await call.office.look(lambda desk: named(desk.ahead()))
    return _answers(await bulk(call.office, action, ids, batch=name, agent=agent) | {"batchId": name})


def _answers(found: Json) -> AnswersTold:
    return AnswersTold.model_validate(found)
