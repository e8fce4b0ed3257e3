"""Steering: what people ask of a batch or of its tasks, and what became of it, task by task.

The same for many tasks at once, wherever they are: a result for each, and none fails for another's sake.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from enum import StrEnum
from functools import partial
from typing import Literal, assert_never

from plait.client import pull_request_preview
from plait.client.api_errors import FieldError, StateError
from plait.client.session import Session, new_request_id
from plait.client.task_actions import (
    TaskAnswer,
    answer_json,
    check_agent,
    check_answer,
    list_retryable,
    make_auto_approve_factory,
    sort_by_needs,
)
from plait.core.errors import ConfigError, PlaitError
from plait.core.explain import explain_status
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
from plait.core.views import BatchView, find_batch_status, make_batch_view
from plait.server.project_session import ProjectSession
from plait.server.service.idempotency import ask_once, derive_request_id, find_stored_requests, hold_key
from plait.server.service.lookup import resolve_batch, resolve_batch_and_task

Json = dict[str, object]


# The requests, and the task that each one names; None: it is about the batch.
TaskRequests = Sequence[tuple[str | None, Request]]


ACCEPTED_RESULT = "accepted"


class BatchAction(StrEnum):
    CANCEL = "cancel"
    PAUSE = "pause"
    UNPAUSE = "unpause"
    APPROVE = "approve"
    RETRY = "retry"
    RESUME = "resume"


# What is asked for with one request.
SingleRequestAction = Literal[
    BatchAction.CANCEL, BatchAction.PAUSE, BatchAction.UNPAUSE, BatchAction.APPROVE, BatchAction.RESUME
]


class TaskAction(StrEnum):
    CANCEL = "cancel"
    RETRY = "retry"
    DROP = "drop"
    APPROVE = "approve"
    FEEDBACK = "feedback"


async def run_batch_action(  # noqa: PLR0913 - what can be asked for
    session: ProjectSession,
    batch: str | None,
    action: BatchAction,
    *,
    agent: str | None = None,
    approve_all_tasks: bool = False,
    key: str = "",
) -> Json:
    """`{batchId, results}`. A retry takes up all that was lost, by `agent` if one is named; `everything`: approve for good.

    Raises UnknownError, and StateError if everything was refused.
    """

    def choose(client: Session) -> tuple[str, TaskRequests]:
        found = resolve_batch(client.preview_state(), batch)
        name = partial(derive_request_id, key, session.id, action, found.id, agent or "", str(approve_all_tasks))
        if action is BatchAction.RETRY:
            return found.id, _build_retries(found, name, agent, stored=find_stored_requests(client) if key else set())
        return found.id, [(None, _build_batch_request(found, action, name(), approve_all_tasks=approve_all_tasks))]

    return await _ask_and_report(session, choose, key)


async def run_task_action(  # noqa: PLR0913 - what can be asked for
    session: ProjectSession,
    batch: str | None,
    task: str,
    action: TaskAction,
    *,
    agent: str | None = None,
    text: str = "",
    key: str = "",
) -> Json:
    """`{batchId, results}` with one result. Raises UnknownError, and StateError if it was refused."""

    def choose(client: Session) -> tuple[str, TaskRequests]:
        found, of = resolve_batch_and_task(client.preview_state(), batch, task)
        name = derive_request_id(key, session.id, action, found.id, of.task.id, agent or "", text)
        return found.id, [(of.task.id, build_task_request(found, of, action, name, agent=agent, text=text))]

    return await _ask_and_report(session, choose, key)


async def publish_batch(  # noqa: PLR0913 - what can be asked for
    session: ProjectSession,
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
    view = await session.query(lambda client: _find_batch_view(client.preview_state(), batch))
    texts = await asyncio.to_thread(pull_request_preview.check_pull_request_text, session.place, view, title, body)

    def choose(_client: Session) -> tuple[str, TaskRequests]:
        words = () if title is None and body is None else (repr((title, body)),)
        name = derive_request_id(key, session.id, "pr", view.id, publish, *words)
        return view.id, [(None, Ship(name, view.id, publish, *texts))]

    told = await _ask_and_report(session, choose, key)
    return told | await session.query(lambda client: _publish_json(client.preview_state(), str(told["batchId"])))


def build_task_request(  # noqa: PLR0913 - what a request is made of
    batch: BatchState,
    task: TaskState,
    action: TaskAction,
    request_id: str,
    *,
    agent: str | None = None,
    text: str = "",
) -> Request:
    """Raises UserError where a front knows already that it can't be."""
    match action:
        case TaskAction.CANCEL:
            return CancelTask(request_id, batch.id, task.task.id)
        case TaskAction.RETRY:
            _check_agent(batch, agent)
            return Retry(request_id, batch.id, task.task.id, agent)
        case TaskAction.DROP:
            return Drop(request_id, batch.id, task.task.id)
        case TaskAction.APPROVE:
            return Approve(request_id, batch.id, task.task.id)
        case TaskAction.FEEDBACK:
            check_answer(batch, task, text)
            return Feedback(request_id, batch.id, task.task.id, text)
        case _:
            assert_never(action)


def _check_agent(batch: BatchState, agent: str | None) -> None:
    try:
        if agent is not None:
            check_agent(batch, agent)
    except ConfigError as error:
        raise FieldError(error.message, field="agent", hint=error.hint) from error


def _build_batch_request(
    batch: BatchState, action: SingleRequestAction, request_id: str, *, approve_all_tasks: bool
) -> Request:
    match action:
        case BatchAction.CANCEL:
            return CancelBatch(request_id, batch.id)
        case BatchAction.PAUSE:
            return Pause(request_id, batch.id)
        case BatchAction.UNPAUSE:
            return Unpause(request_id, batch.id)
        case BatchAction.APPROVE:
            always = approve_all_tasks and batch.settings.mode is Mode.QUEUE
            return make_auto_approve_factory(batch)(request_id, batch.id) if always else Approve(request_id, batch.id)
        case BatchAction.RESUME:
            return Resume(request_id, batch.id)
        case _:
            assert_never(action)


def _build_retries(
    batch: BatchState, make_id: Callable[[str], str], agent: str | None, *, stored: Collection[str]
) -> TaskRequests:
    """`known` are requests that were made before: who asks for them again asks for no others."""
    again = [task for task in batch.tasks if stored and make_id(task.task.id) in stored]
    tasks = sort_by_needs(batch, again or list_retryable(batch))
    if not tasks:
        raise StateError(
            f"nothing of batch {batch.id} has failed, timed out, conflicted or was cancelled",
            state=find_batch_status(batch)[0].value,
        )
    of = TaskAction.RETRY
    return [(task.task.id, build_task_request(batch, task, of, make_id(task.task.id), agent=agent)) for task in tasks]


async def _ask_and_report(
    session: ProjectSession, choose: Callable[[Session], tuple[str, TaskRequests]], key: str
) -> Json:
    async with hold_key(session, key):
        batch, asked = await session.query(choose)
        answers = await ask_once(session, [request for _, request in asked])
    results = [(name, answer) for (name, _), answer in zip(asked, answers, strict=True)]
    return await session.query(lambda client: _results_json(client.preview_state(), batch, results))


def _results_json(state: State, batch: str, results: Sequence[TaskAnswer]) -> Json:
    if all(answer.granted is False for _, answer in results):
        name, answer = results[0]
        raise StateError(answer.why, state=_current_status(state, batch, name))
    return {"batchId": batch, "results": [answer_json(state, batch, result) for result in results]}


def _current_status(state: State, name: str, task_name: str | None) -> str:
    batch = state.batches[name]
    task = batch.find_task(task_name) if task_name is not None else None
    return (find_batch_status(batch)[0] if task is None else explain_status(state, batch, task).status).value


def _find_batch_view(state: State, batch: str | None) -> BatchView:
    return make_batch_view(state, resolve_batch(state, batch))


def _publish_json(state: State, name: str) -> Json:
    batch = state.batches[name]
    view = make_batch_view(state, batch)
    return {
        "underWay": batch.requested_publish is not None or batch.publishing is not None,
        "branch": view.branch or None,
        "commit": view.shipped or None,
        "prUrl": view.pr_url or None,
        "unshipped": view.unshipped,
    }


def is_accepted(told: Json) -> bool:
    """Whether something is safe, and not answered yet."""
    results = told["results"]
    return isinstance(results, list) and any(result["result"] == ACCEPTED_RESULT for result in results)


# Of one batch: the requests by task, and the results that are there without asking.
_BatchPart = tuple[str, dict[str, Request], dict[str, Json]]


async def run_bulk_action(  # noqa: PLR0913 - what can be asked for
    session: ProjectSession,
    action: TaskAction,
    task_ids: Sequence[str],
    *,
    batch: str | None = None,
    agent: str | None = None,
    text: str = "",
) -> Json:
    """`{action, results}` in the order of `task_ids`. Without a `batch`, of each task the newest batch that has it.

    Raises UnknownError for the batch only: a task that is nowhere is a result of its own. Raises FieldError.
    """
    _check_bulk_fields(action, agent, text)
    task_names = tuple(dict.fromkeys(task_ids))

    def choose(client: Session) -> list[_BatchPart]:
        state = client.preview_state()
        one = None if batch is None else resolve_batch(state, batch)
        return [
            _build_part(found, names, action, agent, text) for found, names in _group_by_batch(state, task_names, one)
        ]

    parts = await session.query(choose)
    told = await asyncio.gather(*(_ask_part(session, part) for part in parts))
    results = {name: result for part in told for name, result in part.items()}
    return {
        "action": action.value,
        "results": [results.get(name) or _unknown_result(name) for name in task_names],
    }


def _check_bulk_fields(action: TaskAction, agent: str | None, text: str) -> None:
    """What would be left out is refused: who sends it counts on it."""
    if action is TaskAction.FEEDBACK and not text:
        raise FieldError("feedback has a text", field="text")
    if text and action is not TaskAction.FEEDBACK:
        raise FieldError(f"a text is for feedback, and {action.value} has none", field="text")
    if agent is not None and action is not TaskAction.RETRY:
        raise FieldError(f"an agent is for a retry, and {action.value} has none", field="agent")


def _group_by_batch(
    state: State, task_names: Sequence[str], only_batch: BatchState | None
) -> list[tuple[BatchState, list[str]]]:
    newest = sorted(state.batches.values(), key=lambda batch: batch.order, reverse=True)
    found: dict[str, list[str]] = {}
    for name in task_names:
        among = newest if only_batch is None else [only_batch]
        holder = next((batch for batch in among if name in batch.index), None)
        if holder is not None:
            found.setdefault(holder.id, []).append(name)
    return [(state.batches[name], tasks) for name, tasks in found.items()]


def _build_part(
    batch: BatchState, names: Sequence[str], action: TaskAction, agent: str | None, text: str
) -> _BatchPart:
    tasks = [batch.tasks[batch.index[name]] for name in names]
    requests, refused = dict[str, Request](), dict[str, Json]()
    for task in sort_by_needs(batch, tasks) if action is TaskAction.RETRY else tasks:
        name = task.task.id
        try:
            requests[name] = build_task_request(batch, task, action, new_request_id(), agent=agent, text=text)
        except PlaitError as error:
            refused[name] = _result_json(name, batch.id, "refused", error.message)
    return batch.id, requests, refused


async def _ask_part(session: ProjectSession, part: _BatchPart) -> dict[str, Json]:
    batch, requests, refused = part
    if not requests:
        return refused
    try:
        answers = await ask_once(session, list(requests.values()))
    except PlaitError as error:  # of this batch nothing is left to take up
        return refused | {name: _result_json(name, batch, "refused", error.message) for name in requests}
    results = list(zip(requests, answers, strict=True))
    told = await session.query(
        lambda client: [answer_json(client.preview_state(), batch, (name, answer)) for name, answer in results]
    )
    return refused | {name: each | {"batchId": batch} for (name, _), each in zip(results, told, strict=True)}


def _unknown_result(name: str) -> Json:
    return _result_json(name, None, "unknown", f"there is no batch with a task {name}")


def _result_json(name: str, batch: str | None, result: str, reason: str) -> Json:
    return {
        "taskId": name,
        "result": result,
        "reason": reason,
        "status": None,
        "tasks": (),
        "batchId": batch,
    }
