"""One action for many tasks of any batches, with a result for each."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from plait.client.api_errors import FieldError
from plait.client.batch_lookup import find_named_task
from plait.client.json_encoding import api_model
from plait.client.session import Session, new_request_id
from plait.client.task_actions import RECHECK_KEYS, RETRY_KEYS, describe_answer, sort_by_needs
from plait.config.keys import KEYS_BY_NAME
from plait.core.errors import PlaitError
from plait.core.requests import Request
from plait.core.state import BatchState, State
from plait.core.status import BatchStatus, TaskStatus
from plait.server.batch_spec import RetryFields, TaskId
from plait.server.http.routes.actions import (
    ActionOptions,
    FeedbackText,
    TaskAction,
    build_task_request,
    make_action_options,
    refresh_batch,
)
from plait.server.http.routes.routing import Routes, SessionDep
from plait.server.http.schema import ApiBody
from plait.server.idempotency import ask_or_queue
from plait.server.lookup import resolve_batch
from plait.server.project_session import ProjectSession

routes = Routes("steering")

MAX_BULK_TASKS = 1_000  # tasks


class BulkBody(ApiBody, RetryFields):
    """An action for many tasks. Without `batchId`: in the newest batch of each task. `text` is for feedback, the rest
    for a retry or a recheck.
    """

    action: TaskAction = Field(strict=False)
    task_ids: Annotated[list[TaskId], Field(min_length=1, max_length=MAX_BULK_TASKS)]
    batch_id: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    text: FeedbackText | None = None


class BulkOutcome(StrEnum):
    GRANTED = "granted"
    REFUSED = "refused"
    ACCEPTED = "accepted"
    UNKNOWN = "unknown"


@api_model
class BulkResult:
    """The result for a task. `batchId` null: no batch has this task."""

    task_id: str
    batch_id: str | None
    result: BulkOutcome
    reason: str | None
    status: TaskStatus | BatchStatus | None
    tasks: list[str]


@api_model
class BulkResults:
    """The results, in the order of `taskIds`."""

    action: TaskAction
    results: list[BulkResult]


@routes.add("POST", "/api/bulk", BulkResults, operation_id="bulk")
async def run_bulk(session: SessionDep, body: BulkBody) -> BulkResults:
    """The same action for many tasks, with a result for each."""
    options = make_action_options(body, text=body.text or "")
    return await run_bulk_action(session, body.action, body.task_ids, body.batch_id, options)


# Of one batch: the requests by task, and the results that need no request.
_BatchPart = tuple[str, dict[str, Request], dict[str, BulkResult]]


async def run_bulk_action(
    session: ProjectSession, action: TaskAction, task_ids: Sequence[str], batch: str | None, options: ActionOptions
) -> BulkResults:
    """Run an action on many tasks; results are in the order of `task_ids`. Without a `batch`, each task's newest batch
    is meant.

    An unknown task is a result of its own; only an unknown batch raises NotFoundError. Raises FieldError.
    """
    _check_bulk_fields(action, options)
    task_names = tuple(dict.fromkeys(task_ids))

    def choose(client: Session) -> tuple[list[_BatchPart], dict[str, str]]:
        state = client.preview_state()
        only = None if batch is None else resolve_batch(state, batch)
        grouped, ids = _group_by_batch(state, task_names, only)
        return [_build_part(batch_state, names, action, options) for batch_state, names in grouped], ids

    parts, ids = await session.query(choose)
    for name, chosen, _ in parts:
        await refresh_batch(session, name, [*chosen.values()], options)
    answered = await asyncio.gather(*(_ask_part(session, part) for part in parts))
    results = {name: result for part in answered for name, result in part.items()}
    return BulkResults(
        action,
        [
            results.get(ids.get(name, name))
            or _make_result(name, None, BulkOutcome.UNKNOWN, f"no batch has a task {name}")
            for name in task_names
        ],
    )


def _check_bulk_fields(action: TaskAction, options: ActionOptions) -> None:
    """Reject a field that would be ignored."""
    if action is TaskAction.FEEDBACK and not options.text:
        raise FieldError("feedback needs a text", field="text")
    if options.text and action is not TaskAction.FEEDBACK:
        raise FieldError(f"a text is for feedback, not for {action.value}", field="text")
    for name in ("agent", "model"):
        if getattr(options, name) is not None and action is not TaskAction.RETRY:
            raise FieldError(f"{name} is for a retry, not for {action.value}", field=name)
    allowed = {TaskAction.RETRY: RETRY_KEYS, TaskAction.RECHECK: RECHECK_KEYS}.get(action, ())
    for key in options.flags:
        if key not in allowed:
            name = KEYS_BY_NAME[key].field
            raise FieldError(f"{name} can't be given for {action.value}", field=name)


def _group_by_batch(
    state: State, task_names: Sequence[str], only_batch: BatchState | None
) -> tuple[list[tuple[BatchState, list[str]]], dict[str, str]]:
    """Return the ids of the tasks of each batch, and the id that each name stands for."""
    newest = sorted(state.batches.values(), key=lambda batch: batch.order, reverse=True)
    candidates = newest if only_batch is None else [only_batch]
    ids_by_batch: dict[str, dict[str, None]] = {}
    ids: dict[str, str] = {}
    for name in task_names:
        exact = next((batch for batch in candidates if name in batch.index), None)
        batches = candidates if exact is None else [exact]
        found = next(((batch, task) for batch in batches if (task := find_named_task(batch, name)) is not None), None)
        if found is not None:
            batch, task = found
            ids[name] = task.task.id
            ids_by_batch.setdefault(batch.id, {})[task.task.id] = None
    return [(state.batches[name], list(tasks)) for name, tasks in ids_by_batch.items()], ids


def _build_part(batch: BatchState, names: Sequence[str], action: TaskAction, options: ActionOptions) -> _BatchPart:
    tasks = [batch.tasks[batch.index[name]] for name in names]
    requests_by_task, refused = dict[str, Request](), dict[str, BulkResult]()
    for task in sort_by_needs(batch, tasks) if action in {TaskAction.RETRY, TaskAction.RECHECK} else tasks:
        name = task.task.id
        try:
            requests_by_task[name] = build_task_request(batch, task, action, new_request_id(), options)
        except PlaitError as error:
            refused[name] = _make_result(name, batch.id, BulkOutcome.REFUSED, error.message)
    return batch.id, requests_by_task, refused


async def _ask_part(session: ProjectSession, part: _BatchPart) -> dict[str, BulkResult]:
    batch, requests_by_task, refused = part
    if not requests_by_task:
        return refused
    try:
        answers = await ask_or_queue(session, list(requests_by_task.values()))
    except PlaitError as error:  # the batch's files are gone
        return refused | {
            name: _make_result(name, batch, BulkOutcome.REFUSED, error.message) for name in requests_by_task
        }
    results = list(zip(requests_by_task, answers, strict=True))
    answered = await session.query(
        lambda client: [describe_answer(client.preview_state(), batch, (name, answer)) for name, answer in results]
    )
    return refused | {
        name: BulkResult(
            name, batch, BulkOutcome(described.result), described.reason, described.status, described.tasks
        )
        for (name, _), described in zip(results, answered, strict=True)
    }


def _make_result(name: str, batch: str | None, result: BulkOutcome, reason: str) -> BulkResult:
    return BulkResult(name, batch, result, reason, None, [])
