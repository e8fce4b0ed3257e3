"""Steering: each asks the engine for something, and says what became of it."""

from __future__ import annotations

from fastapi import APIRouter, Response

from plait.core.settings import Publish
from plait.server.http.responses import make_response
from plait.server.http.routes.dependencies import BatchId, IdempotencyKey, SessionDep, TaskName
from plait.server.http.schema.actions import (
    Answered,
    ApproveBody,
    BulkAnswered,
    BulkBody,
    FeedbackBody,
    RetryBody,
    ShipBody,
    Shipped,
)
from plait.server.http.schema.base import ApiModel, Responses, document_responses
from plait.server.service.actions import (
    BatchAction,
    TaskAction,
    is_accepted,
    publish_batch,
    run_batch_action,
    run_bulk_action,
    run_task_action,
)

router = APIRouter(tags=["steering"])

_BATCH_PATH = "/api/batches/{batch_id}"
_TASK_PATH = "/api/batches/{batch_id}/tasks/{task_id:path}"


def _action_responses(model: type[ApiModel], about: str) -> Responses:
    return document_responses(model, 409, also={202: {"model": model, "description": about}})


_ACTION_RESPONSES = _action_responses(Answered, "It is safe, and no engine has answered yet")
_PUBLISH_RESPONSES = _action_responses(Shipped, "It is under way, or safe and not answered yet")


def _respond(body: dict[str, object]) -> Response:
    return make_response(body, 202 if is_accepted(body) else 200)


@router.post(f"{_BATCH_PATH}/cancel", operation_id="cancelBatch", responses=_ACTION_RESPONSES)
async def cancel(session: SessionDep, batch_id: BatchId, key: IdempotencyKey = "") -> Response:
    """End what runs, and give the rest up."""
    return _respond(await run_batch_action(session, batch_id, BatchAction.CANCEL, key=key))


@router.post(f"{_BATCH_PATH}/pause", operation_id="pauseBatch", responses=_ACTION_RESPONSES)
async def pause(session: SessionDep, batch_id: BatchId, key: IdempotencyKey = "") -> Response:
    """Start nothing new; what runs goes on."""
    return _respond(await run_batch_action(session, batch_id, BatchAction.PAUSE, key=key))


@router.post(f"{_BATCH_PATH}/unpause", operation_id="unpauseBatch", responses=_ACTION_RESPONSES)
async def unpause(session: SessionDep, batch_id: BatchId, key: IdempotencyKey = "") -> Response:
    """Go on."""
    return _respond(await run_batch_action(session, batch_id, BatchAction.UNPAUSE, key=key))


@router.post(f"{_BATCH_PATH}/resume", operation_id="resumeBatch", responses=_ACTION_RESPONSES)
async def resume(session: SessionDep, batch_id: BatchId, key: IdempotencyKey = "") -> Response:
    """Go on with what was stopped: interrupted steps again, done tasks not."""
    return _respond(await run_batch_action(session, batch_id, BatchAction.RESUME, key=key))


@router.post(f"{_BATCH_PATH}/approve", operation_id="approveBatch", responses=_ACTION_RESPONSES)
async def approve(
    session: SessionDep, batch_id: BatchId, body: ApproveBody | None = None, key: IdempotencyKey = ""
) -> Response:
    """Let the next task of a queue start; `all`: ask no more."""
    everything = body is not None and body.all
    return _respond(
        await run_batch_action(session, batch_id, BatchAction.APPROVE, approve_all_tasks=everything, key=key)
    )


@router.post(f"{_BATCH_PATH}/retry", operation_id="retryBatch", responses=_ACTION_RESPONSES)
async def retry(
    session: SessionDep, batch_id: BatchId, body: RetryBody | None = None, key: IdempotencyKey = ""
) -> Response:
    """Take up all that failed, timed out, conflicted or was cancelled."""
    agent = None if body is None else body.agent
    return _respond(await run_batch_action(session, batch_id, BatchAction.RETRY, agent=agent, key=key))


@router.post(f"{_BATCH_PATH}/pr", operation_id="publishBatch", responses=_PUBLISH_RESPONSES)
async def publish(
    session: SessionDep, batch_id: BatchId, body: ShipBody | None = None, key: IdempotencyKey = ""
) -> Response:
    """Push the batch branch, and open its pull request or bring it up to date. BATCH has `prUrl` when that is over."""
    asked = body or ShipBody()
    told = await publish_batch(session, batch_id, Publish(asked.publish), title=asked.title, body=asked.body, key=key)
    return make_response(told, 202 if told["underWay"] or is_accepted(told) else 200)


@router.post(f"{_TASK_PATH}/cancel", operation_id="cancelTask", responses=_ACTION_RESPONSES)
async def cancel_task(session: SessionDep, batch_id: BatchId, task_id: TaskName, key: IdempotencyKey = "") -> Response:
    """End it, and give it up."""
    return _respond(await run_task_action(session, batch_id, task_id, TaskAction.CANCEL, key=key))


@router.post(f"{_TASK_PATH}/retry", operation_id="retryTask", responses=_ACTION_RESPONSES)
async def retry_task(
    session: SessionDep,
    batch_id: BatchId,
    task_id: TaskName,
    body: RetryBody | None = None,
    key: IdempotencyKey = "",
) -> Response:
    """Take it up again, and with it what it held back; `agent`: another one is to try."""
    agent = None if body is None else body.agent
    return _respond(await run_task_action(session, batch_id, task_id, TaskAction.RETRY, agent=agent, key=key))


@router.post(f"{_TASK_PATH}/drop", operation_id="dropTask", responses=_ACTION_RESPONSES)
async def drop_task(session: SessionDep, batch_id: BatchId, task_id: TaskName, key: IdempotencyKey = "") -> Response:
    """Go on without it; what it merged is taken out of the branch."""
    return _respond(await run_task_action(session, batch_id, task_id, TaskAction.DROP, key=key))


@router.post(f"{_TASK_PATH}/approve", operation_id="approveTask", responses=_ACTION_RESPONSES)
async def approve_task(session: SessionDep, batch_id: BatchId, task_id: TaskName, key: IdempotencyKey = "") -> Response:
    """Let it start when its turn comes."""
    return _respond(await run_task_action(session, batch_id, task_id, TaskAction.APPROVE, key=key))


@router.post(f"{_TASK_PATH}/feedback", operation_id="giveFeedback", responses=_ACTION_RESPONSES)
async def feedback(
    session: SessionDep, batch_id: BatchId, task_id: TaskName, body: FeedbackBody, key: IdempotencyKey = ""
) -> Response:
    """A new attempt with these words, or the answer to its question."""
    return _respond(await run_task_action(session, batch_id, task_id, TaskAction.FEEDBACK, text=body.text, key=key))


@router.post("/api/bulk", operation_id="bulk", responses=document_responses(BulkAnswered, 409))
async def many(session: SessionDep, body: BulkBody) -> Response:
    """The same for many tasks: a result for each, and none fails for another's sake."""
    return make_response(
        await run_bulk_action(
            session, body.action, body.task_ids, batch=body.batch_id, agent=body.agent, text=body.text or ""
        )
    )
