"""The same for many tasks at once, wherever they are: a result for each, and none fails for another's sake."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from plait.client.api_errors__refusals import FieldError
from plait.client.session import Session
from plait.client.session__asking import new_request_id
from plait.client.task_actions import sort_by_needs
from plait.client.task_actions__answers import answer_json
from plait.core.errors import PlaitError
from plait.core.requests import Request
from plait.core.state import BatchState, State
from plait.server.project_session import ProjectSession
from plait.server.service.actions import TaskAction, build_task_request
from plait.server.service.idempotency import ask_once
from plait.server.service.lookup import resolve_batch

Json = dict[str, object]

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

    def choose(desk: Session) -> list[_BatchPart]:
        state = desk.preview_state()
        one = None if batch is None else resolve_batch(state, batch)
        return [
            _build_part(found, names, action, agent, text)
            for found, names in _group_by_batch(state, task_names, one)
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
        lambda desk: [answer_json(desk.preview_state(), batch, (name, answer)) for name, answer in results]
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
