"""Steering: each asks the engine for something, and says what became of it."""

from __future__ import annotations

from fastapi import APIRouter, Response

from plait.core.settings import Publish
from plait.server.acts.bulk import bulk
from plait.server.acts.steer import BatchAction, TaskAction, accepted, batch_action, ship, task_action
from plait.server.replies import reply
from plait.server.routes.common import BatchId, InOffice, Key, TaskName
from plait.server.shapes.errors import Responses, answers
from plait.server.shapes.shape import Shape
from plait.server.shapes.steering import (
    Answered,
    ApproveBody,
    BulkAnswered,
    BulkBody,
    FeedbackBody,
    RetryBody,
    ShipBody,
    Shipped,
)

router = APIRouter(tags=["steering"])

_BATCH = "/api/batches/{batch_id}"
_TASK = "/api/batches/{batch_id}/tasks/{task_id:path}"


def _answers(model: type[Shape], about: str) -> Responses:
    return answers(model, 409, also={202: {"model": model, "description": about}})


_ANSWERS = _answers(Answered, "It is safe, and no engine has answered yet")
_SHIPPING = _answers(Shipped, "It is under way, or safe and not answered yet")


def _told(told: dict[str, object]) -> Response:
    return reply(told, 202 if accepted(told) else 200)


@router.post(f"{_BATCH}/cancel", operation_id="cancelBatch", responses=_ANSWERS)
async def cancel(office: InOffice, batch_id: BatchId, key: Key = "") -> Response:
    """End what runs, and give the rest up."""
    return _told(await batch_action(office, batch_id, BatchAction.CANCEL, key=key))


@router.post(f"{_BATCH}/pause", operation_id="pauseBatch", responses=_ANSWERS)
async def pause(office: InOffice, batch_id: BatchId, key: Key = "") -> Response:
    """Start nothing new; what runs goes on."""
    return _told(await batch_action(office, batch_id, BatchAction.PAUSE, key=key))


@router.post(f"{_BATCH}/unpause", operation_id="unpauseBatch", responses=_ANSWERS)
async def unpause(office: InOffice, batch_id: BatchId, key: Key = "") -> Response:
    """Go on."""
    return _told(await batch_action(office, batch_id, BatchAction.UNPAUSE, key=key))


@router.post(f"{_BATCH}/resume", operation_id="resumeBatch", responses=_ANSWERS)
async def resume(office: InOffice, batch_id: BatchId, key: Key = "") -> Response:
    """Go on with what was stopped: interrupted steps again, done tasks not."""
    return _told(await batch_action(office, batch_id, BatchAction.RESUME, key=key))


@router.post(f"{_BATCH}/approve", operation_id="approveBatch", responses=_ANSWERS)
async def approve(
    office: InOffice, batch_id: BatchId, body: ApproveBody | None = None, key: Key = ""
) -> Response:
    """Let the next task of a queue start; `all`: ask no more."""
    everything = body is not None and body.all
    return _told(await batch_action(office, batch_id, BatchAction.APPROVE, everything=everything, key=key))


@router.post(f"{_BATCH}/retry", operation_id="retryBatch", responses=_ANSWERS)
async def retry(
    office: InOffice, batch_id: BatchId, body: RetryBody | None = None, key: Key = ""
) -> Response:
    """Take up all that failed, timed out, conflicted or was cancelled."""
    agent = None if body is None else body.agent
    return _told(await batch_action(office, batch_id, BatchAction.RETRY, agent=agent, key=key))


@router.post(f"{_BATCH}/pr", operation_id="publishBatch", responses=_SHIPPING)
async def publish(
    office: InOffice, batch_id: BatchId, body: ShipBody | None = None, key: Key = ""
) -> Response:
    """Push the batch branch, and open its pull request or bring it up to date. BATCH has `prUrl` when that is over."""
    asked = body or ShipBody()
    told = await ship(office, batch_id, Publish(asked.publish), title=asked.title, body=asked.body, key=key)
    return reply(told, 202 if told["underWay"] or accepted(told) else 200)


@router.post(f"{_TASK}/cancel", operation_id="cancelTask", responses=_ANSWERS)
async def cancel_task(office: InOffice, batch_id: BatchId, task_id: TaskName, key: Key = "") -> Response:
    """End it, and give it up."""
    return _told(await task_action(office, batch_id, task_id, TaskAction.CANCEL, key=key))


@router.post(f"{_TASK}/retry", operation_id="retryTask", responses=_ANSWERS)
async def retry_task(
    office: InOffice, batch_id: BatchId, task_id: TaskName, body: RetryBody | None = None, key: Key = ""
) -> Response:
    """Take it up again, and with it what it held back; `agent`: another one is to try."""
    agent = None if body is None else body.agent
    return _told(await task_action(office, batch_id, task_id, TaskAction.RETRY, agent=agent, key=key))


@router.post(f"{_TASK}/drop", operation_id="dropTask", responses=_ANSWERS)
async def drop_task(office: InOffice, batch_id: BatchId, task_id: TaskName, key: Key = "") -> Response:
    """Go on without it; what it merged is taken out of the branch."""
    return _told(await task_action(office, batch_id, task_id, TaskAction.DROP, key=key))


@router.post(f"{_TASK}/approve", operation_id="approveTask", responses=_ANSWERS)
async def approve_task(office: InOffice, batch_id: BatchId, task_id: TaskName, key: Key = "") -> Response:
    """Let it start when its turn comes."""
    return _told(await task_action(office, batch_id, task_id, TaskAction.APPROVE, key=key))


@router.post(f"{_TASK}/feedback", operation_id="giveFeedback", responses=_ANSWERS)
async def feedback(
    office: InOffice, batch_id: BatchId, task_id: TaskName, body: FeedbackBody, key: Key = ""
) -> Response:
    """A new attempt with these words, or the answer to its question."""
    return _told(await task_action(office, batch_id, task_id, TaskAction.FEEDBACK, text=body.text, key=key))


@router.post("/api/bulk", operation_id="bulk", responses=answers(BulkAnswered, 409))
async def many(office: InOffice, body: BulkBody) -> Response:
    """The same for many tasks: a result for each, and none fails for another's sake."""
    return reply(
        await bulk(
            office, body.action, body.task_ids, batch=body.batch_id, agent=body.agent, text=body.text or ""
        )
    )
