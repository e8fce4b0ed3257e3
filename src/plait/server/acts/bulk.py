"""The same for many tasks at once, wherever they are: a result for each, and none fails for another's sake."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from plait.core.errors import PlaitError
from plait.core.requests import Request
from plait.core.state import BatchState, State
from plait.front.answers import answer_json
from plait.front.asking import request_id
from plait.front.desk import Desk
from plait.front.refusals import FieldError
from plait.front.steering import in_order
from plait.server.acts.asking import answered
from plait.server.acts.naming import the_batch
from plait.server.acts.steer import TaskAction, of_task
from plait.server.office import Office

Json = dict[str, object]

# Of one batch: the requests by task, and the results that are there without asking.
_Part = tuple[str, dict[str, Request], dict[str, Json]]


async def bulk(  # noqa: PLR0913 - what can be asked for
    office: Office,
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
    _check(action, agent, text)
    wanted = tuple(dict.fromkeys(task_ids))

    def choose(desk: Desk) -> list[_Part]:
        state = desk.ahead()
        one = None if batch is None else the_batch(state, batch)
        return [_part(found, names, action, agent, text) for found, names in _spread(state, wanted, one)]

    parts = await office.look(choose)
    told = await asyncio.gather(*(_asked(office, part) for part in parts))
    results = {name: result for part in told for name, result in part.items()}
    return {"action": action.value, "results": [results.get(name) or _unknown(name) for name in wanted]}


def _check(action: TaskAction, agent: str | None, text: str) -> None:
    """What would be left out is refused: who sends it counts on it."""
    if action is TaskAction.FEEDBACK and not text:
        raise FieldError("feedback has a text", field="text")
    if text and action is not TaskAction.FEEDBACK:
        raise FieldError(f"a text is for feedback, and {action.value} has none", field="text")
    if agent is not None and action is not TaskAction.RETRY:
        raise FieldError(f"an agent is for a retry, and {action.value} has none", field="agent")


def _spread(
    state: State, wanted: Sequence[str], one: BatchState | None
) -> list[tuple[BatchState, list[str]]]:
    newest = sorted(state.batches.values(), key=lambda batch: batch.order, reverse=True)
    found: dict[str, list[str]] = {}
    for name in wanted:
        among = newest if one is None else [one]
        holder = next((batch for batch in among if name in batch.index), None)
        if holder is not None:
            found.setdefault(holder.id, []).append(name)
    return [(state.batches[name], tasks) for name, tasks in found.items()]


def _part(batch: BatchState, names: Sequence[str], action: TaskAction, agent: str | None, text: str) -> _Part:
    tasks = [batch.tasks[batch.index[name]] for name in names]
    requests, refused = dict[str, Request](), dict[str, Json]()
    for task in in_order(batch, tasks) if action is TaskAction.RETRY else tasks:
        name = task.task.id
        try:
            requests[name] = of_task(batch, task, action, request_id(), agent=agent, text=text)
        except PlaitError as error:
            refused[name] = _result(name, batch.id, "refused", error.message)
    return batch.id, requests, refused


async def _asked(office: Office, part: _Part) -> dict[str, Json]:
    batch, requests, refused = part
    if not requests:
        return refused
    try:
        answers = await answered(office, list(requests.values()))
    except PlaitError as error:  # of this batch nothing is left to take up
        return refused | {name: _result(name, batch, "refused", error.message) for name in requests}
    results = list(zip(requests, answers, strict=True))
    told = await office.look(
        lambda desk: [answer_json(desk.ahead(), batch, (name, answer)) for name, answer in results]
    )
    return refused | {name: each | {"batchId": batch} for (name, _), each in zip(results, told, strict=True)}


def _unknown(name: str) -> Json:
    return _result(name, None, "unknown", f"there is no batch with a task {name}")


def _result(name: str, batch: str | None, result: str, reason: str) -> Json:
    return {
        "taskId": name,
        "result": result,
        "reason": reason,
        "status": None,
        "tasks": (),
        "batchId": batch,
    }
