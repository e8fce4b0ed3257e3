"""Control: each route sends requests to the engine, and returns the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import APIRouter, Depends, Response

from plait.client.task_actions import ActionResults
from plait.core.settings import Publish
from plait.server.http.responses import make_response
from plait.server.http.routes.dependencies import (
    BATCH_PATH,
    TASK_PATH,
    BatchId,
    IdempotencyKey,
    SessionDep,
    TaskName,
)
from plait.server.http.schema.base import Responses, document_responses
from plait.server.http.schema.bodies import ApproveBody, BulkBody, FeedbackBody, RetryBody, ShipBody
from plait.server.service.actions import (
    ACTIONS,
    ActionOptions,
    BatchAction,
    BulkResults,
    PublishResults,
    TaskAction,
    is_accepted,
    publish_batch,
    run_batch_action,
    run_bulk_action,
    run_task_action,
)

router = APIRouter(tags=["steering"])


def _action_responses(model: type[object], about: str) -> Responses:
    return document_responses(model, 409, also={202: {"model": model, "description": about}})


_ACTION_RESPONSES = _action_responses(ActionResults, "Durable, but no engine has answered yet")
_PUBLISH_RESPONSES = _action_responses(PublishResults, "In progress, or durable but not answered yet")


def _options(key: IdempotencyKey = "") -> ActionOptions:
    return ActionOptions(key=key)


def _approve_options(body: ApproveBody | None = None, key: IdempotencyKey = "") -> ActionOptions:
    return ActionOptions(approve_all=body is not None and body.all, key=key)


def _retry_options(body: RetryBody | None = None, key: IdempotencyKey = "") -> ActionOptions:
    return ActionOptions(agent=None if body is None else body.agent, key=key)


def _feedback_options(body: FeedbackBody, key: IdempotencyKey = "") -> ActionOptions:
    return ActionOptions(text=body.text, key=key)


_BATCH_OPTIONS: Mapping[BatchAction, Callable[..., ActionOptions]] = {
    BatchAction.APPROVE: _approve_options,
    BatchAction.RETRY: _retry_options,
}
_TASK_OPTIONS: Mapping[TaskAction, Callable[..., ActionOptions]] = {
    TaskAction.FEEDBACK: _feedback_options,
    TaskAction.RETRY: _retry_options,
}


def _respond(answered: ActionResults) -> Response:
    return make_response(answered, 202 if is_accepted(answered) else 200)


def _add_batch_route(action: BatchAction, description: str) -> None:
    get_options: Any = Depends(_BATCH_OPTIONS.get(action, _options))  # Any: FastAPI puts its result in the place

    async def run(session: SessionDep, batch_id: BatchId, options: ActionOptions = get_options) -> Response:
        return _respond(await run_batch_action(session, batch_id, action, options))

    router.add_api_route(
        f"{BATCH_PATH}/{action}",
        run,
        methods=["POST"],
        operation_id=f"{action}Batch",
        summary=action.title(),
        description=description,
        responses=_ACTION_RESPONSES,
    )


def _add_task_route(action: TaskAction, description: str) -> None:
    get_options: Any = Depends(_TASK_OPTIONS.get(action, _options))

    async def run(
        session: SessionDep, batch_id: BatchId, task_id: TaskName, options: ActionOptions = get_options
    ) -> Response:
        return _respond(await run_task_action(session, batch_id, task_id, action, options))

    feedback = action is TaskAction.FEEDBACK
    router.add_api_route(
        f"{TASK_PATH}/{action}",
        run,
        methods=["POST"],
        operation_id="giveFeedback" if feedback else f"{action}Task",
        summary="Feedback" if feedback else f"{action.title()} Task",
        description=description,
        responses=_ACTION_RESPONSES,
    )


for _spec in ACTIONS:
    if _spec.batch:
        _add_batch_route(BatchAction(_spec.name), _spec.batch)
    if _spec.task:
        _add_task_route(TaskAction(_spec.name), _spec.task)


@router.post(f"{BATCH_PATH}/pr", operation_id="publishBatch", responses=_PUBLISH_RESPONSES)
async def publish(
    session: SessionDep, batch_id: BatchId, body: ShipBody | None = None, key: IdempotencyKey = ""
) -> Response:
    """Push the batch branch, and open or update its pull request. The batch has `prUrl` when that is done."""
    asked = body or ShipBody()
    answered = await publish_batch(
        session, batch_id, Publish(asked.publish), title=asked.title, body=asked.body, key=key
    )
    return make_response(answered, 202 if answered.under_way or is_accepted(answered) else 200)


@router.post("/api/bulk", operation_id="bulk", responses=document_responses(BulkResults, 409))
async def run_bulk(session: SessionDep, body: BulkBody) -> Response:
    """The same action for many tasks, with a result for each."""
    options = ActionOptions(agent=body.agent, text=body.text or "")
    return make_response(await run_bulk_action(session, body.action, body.task_ids, body.batch_id, options))
