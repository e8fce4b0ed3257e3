"""Steering: what people ask of a batch or of its tasks, and what became of it, task by task."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from enum import StrEnum
from functools import partial
from typing import Literal, assert_never

from plait.core.errors import ConfigError
from plait.core.explain import standing
from plait.core.requests import (
    Approve,
    CancelBatch,
    CancelTask,
    Drop,
    Feedback,
    Pause,
    Request,
    Resume,
    Retry,
    Ship,
    Unpause,
)
from plait.core.settings import Mode, Publish
from plait.core.state import BatchState, State, TaskState
from plait.core.views import BatchView, batch_standing, batch_view
from plait.front import announcing
from plait.front.answers import Result, answer_json
from plait.front.desk import Desk
from plait.front.refusals import FieldError, StateError
from plait.front.steering import approve_all, check_agent, check_answer, in_order, lost
from plait.server.acts.asking import answered, named, once, safely
from plait.server.acts.naming import both, the_batch
from plait.server.office import Office

Json = dict[str, object]

# The requests, and the task that each one names; None: it is about the batch.
Asked = Sequence[tuple[str | None, Request]]

ACCEPTED = "accepted"


class BatchAction(StrEnum):
    CANCEL = "cancel"
    PAUSE = "pause"
    UNPAUSE = "unpause"
    APPROVE = "approve"
    RETRY = "retry"
    RESUME = "resume"


# What is asked for with one request.
OfBatch = Literal[
    BatchAction.CANCEL, BatchAction.PAUSE, BatchAction.UNPAUSE, BatchAction.APPROVE, BatchAction.RESUME
]


class TaskAction(StrEnum):
    CANCEL = "cancel"
    RETRY = "retry"
    DROP = "drop"
    APPROVE = "approve"
    FEEDBACK = "feedback"


async def batch_action(  # noqa: PLR0913 - what can be asked for
    office: Office,
    batch: str | None,
    action: BatchAction,
    *,
    agent: str | None = None,
    everything: bool = False,
    key: str = "",
) -> Json:
    """`{batchId, results}`. A retry takes up all that was lost, by `agent` if one is named; `everything`: approve for good.

    Raises UnknownError, and StateError if everything was refused.
    """

    def choose(desk: Desk) -> tuple[str, Asked]:
        found = the_batch(desk.ahead(), batch)
        name = partial(named, key, office.id, action, found.id, agent or "", str(everything))
        if action is BatchAction.RETRY:
            return found.id, _retries(found, name, agent, known=safely(desk) if key else set())
        return found.id, [(None, _of_batch(found, action, name(), everything=everything))]

    return await _told(office, choose, key)


async def task_action(  # noqa: PLR0913 - what can be asked for
    office: Office,
    batch: str | None,
    task: str,
    action: TaskAction,
    *,
    agent: str | None = None,
    text: str = "",
    key: str = "",
) -> Json:
    """`{batchId, results}` with one result. Raises UnknownError, and StateError if it was refused."""

    def choose(desk: Desk) -> tuple[str, Asked]:
        found, of = both(desk.ahead(), batch, task)
        name = named(key, office.id, action, found.id, of.task.id, agent or "", text)
        return found.id, [(of.task.id, of_task(found, of, action, name, agent=agent, text=text))]

    return await _told(office, choose, key)


async def ship(  # noqa: PLR0913 - what can be asked for
    office: Office,
    batch: str | None,
    publish: Publish = Publish.PR,
    *,
    title: str | None = None,
    body: str | None = None,
    key: str = "",
) -> Json:
    """`{batchId, results, underWay, branch, commit, prUrl}`, as soon as it is answered; publishing goes on by itself.

    Raises FieldError where a title or a body can't be so.
    """
    view = await office.look(lambda desk: _view(desk.ahead(), batch))
    said = await asyncio.to_thread(announcing.wanted, office.place, view, title, body)

    def choose(_desk: Desk) -> tuple[str, Asked]:
        words = () if title is None and body is None else (repr((title, body)),)
        name = named(key, office.id, "pr", view.id, publish, *words)
        return view.id, [(None, Ship(name, view.id, publish, *said))]

    told = await _told(office, choose, key)
    return told | await office.look(lambda desk: _shipped(desk.ahead(), str(told["batchId"])))


def of_task(  # noqa: PLR0913 - what a request is made of
    batch: BatchState,
    task: TaskState,
    action: TaskAction,
    name: str,
    *,
    agent: str | None = None,
    text: str = "",
) -> Request:
    """Raises UserError where a front knows already that it can't be."""
    match action:
        case TaskAction.CANCEL:
            return CancelTask(name, batch.id, task.task.id)
        case TaskAction.RETRY:
            _check_agent(batch, agent)
            return Retry(name, batch.id, task.task.id, agent)
        case TaskAction.DROP:
            return Drop(name, batch.id, task.task.id)
        case TaskAction.APPROVE:
            return Approve(name, batch.id, task.task.id)
        case TaskAction.FEEDBACK:
            check_answer(batch, task, text)
            return Feedback(name, batch.id, task.task.id, text)
        case _:
            assert_never(action)


def _check_agent(batch: BatchState, agent: str | None) -> None:
    try:
        if agent is not None:
            check_agent(batch, agent)
    except ConfigError as error:
        raise FieldError(error.message, field="agent", hint=error.hint) from error


def _of_batch(batch: BatchState, action: OfBatch, name: str, *, everything: bool) -> Request:
    match action:
        case BatchAction.CANCEL:
            return CancelBatch(name, batch.id)
        case BatchAction.PAUSE:
            return Pause(name, batch.id)
        case BatchAction.UNPAUSE:
            return Unpause(name, batch.id)
        case BatchAction.APPROVE:
            always = everything and batch.settings.mode is Mode.QUEUE
            return approve_all(batch)(name, batch.id) if always else Approve(name, batch.id)
        case BatchAction.RESUME:
            return Resume(name, batch.id)
        case _:
            assert_never(action)


def _retries(
    batch: BatchState, name: Callable[[str], str], agent: str | None, *, known: Collection[str]
) -> Asked:
    """`known` are requests that were made before: who asks for them again asks for no others."""
    again = [task for task in batch.tasks if known and name(task.task.id) in known]
    tasks = in_order(batch, again or lost(batch))
    if not tasks:
        raise StateError(
            f"nothing of batch {batch.id} has failed, timed out, conflicted or was cancelled",
            state=batch_standing(batch)[0].value,
        )
    of = TaskAction.RETRY
    return [(task.task.id, of_task(batch, task, of, name(task.task.id), agent=agent)) for task in tasks]


async def _told(office: Office, choose: Callable[[Desk], tuple[str, Asked]], key: str) -> Json:
    async with once(office, key):
        batch, asked = await office.look(choose)
        answers = await answered(office, [request for _, request in asked])
    results = [(name, answer) for (name, _), answer in zip(asked, answers, strict=True)]
    return await office.look(lambda desk: _answered(desk.ahead(), batch, results))


def _answered(state: State, batch: str, results: Sequence[Result]) -> Json:
    if all(answer.granted is False for _, answer in results):
        name, answer = results[0]
        raise StateError(answer.why, state=_standing(state, batch, name))
    return {"batchId": batch, "results": [answer_json(state, batch, result) for result in results]}


def _standing(state: State, name: str, task_name: str | None) -> str:
    batch = state.batches[name]
    task = batch.task(task_name) if task_name is not None else None
    return (batch_standing(batch)[0] if task is None else standing(state, batch, task).status).value


def _view(state: State, batch: str | None) -> BatchView:
    return batch_view(state, the_batch(state, batch))


def _shipped(state: State, name: str) -> Json:
    batch = state.batches[name]
    view = batch_view(state, batch)
    return {
        "underWay": batch.wish is not None or batch.publishing is not None,
        "branch": view.branch or None,
        "commit": view.shipped or None,
        "prUrl": view.pr_url or None,
        "unshipped": view.unshipped,
    }


def accepted(told: Json) -> bool:
    """Whether something is safe, and not answered yet."""
    results = told["results"]
    return isinstance(results, list) and any(result["result"] == ACCEPTED for result in results)
