"""Publishing: push a batch's branch, and open or update its pull request."""

from __future__ import annotations

import asyncio
from typing import Annotated, Literal

from pydantic import Field

from plait.client import pull_request_preview
from plait.client.json_encoding import api_model
from plait.client.session import Session
from plait.client.task_actions import ActionResults
from plait.core import requests
from plait.core.requests import MAX_OVERRIDE_BODY_CHARS, MAX_OVERRIDE_TITLE_CHARS
from plait.core.settings import Publish
from plait.core.state import State
from plait.core.views import make_batch_view
from plait.server.http.routes.actions import ActionOptions, TaskRequests, ask_and_report, identify, is_accepted
from plait.server.http.routes.routing import BATCH_PATH, BatchId, IdempotencyKey, Routes, SessionDep
from plait.server.http.schema import ApiBody
from plait.server.idempotency import KeyedRequest
from plait.server.lookup import resolve_batch

routes = Routes("steering")


class ShipBody(ApiBody):
    """What to publish: a pull request, a draft, or only a push. `title` and `body` apply to this and later updates;
    omitted, the last ones are kept. plait's own title and an empty body mean that plait writes them.
    """

    publish: Literal["pr", "draft", "push"] = "pr"
    title: Annotated[str, Field(min_length=1, max_length=MAX_OVERRIDE_TITLE_CHARS)] | None = Field(
        default=None, description="One line of text"
    )
    body: Annotated[str, Field(max_length=MAX_OVERRIDE_BODY_CHARS)] | None = Field(default=None, description="Markdown")


@api_model
class PublishResults(ActionResults):
    """The result of publishing. `underWay`: the batch has `prUrl` when it is done."""

    under_way: bool
    branch: str | None
    commit: str | None
    pr_url: str | None
    unshipped: str | None


@routes.add(
    "POST",
    f"{BATCH_PATH}/pr",
    PublishResults,
    accepted=(
        "In progress, or durable but not answered yet",
        lambda answered: answered.under_way or is_accepted(answered),
    ),
    summary="Publish",
)
async def publish_batch(
    session: SessionDep, batch_id: BatchId, body: ShipBody | None = None, key: IdempotencyKey = ""
) -> PublishResults:
    """Push the batch branch, and open or update its pull request. The batch has `prUrl` when that is done."""
    options = body or ShipBody()
    publish = Publish(options.publish)
    view = await session.query(lambda client: make_batch_view(s := client.preview_state(), resolve_batch(s, batch_id)))
    texts = await asyncio.to_thread(
        pull_request_preview.check_pull_request_text, session.location, view, options.title, options.body
    )

    def choose(client: Session) -> tuple[str, TaskRequests]:
        operation = ("pr", view.id, publish, repr((options.title, options.body)))
        request_id = identify(client, KeyedRequest(key, session.id, operation))()
        return view.id, [(None, requests.Ship(request_id, view.id, publish, *texts))]

    answered = await ask_and_report(session, choose, ActionOptions(key=key))
    return await session.query(lambda client: describe_publishing(client.preview_state(), answered))


def describe_publishing(state: State, answered: ActionResults) -> PublishResults:
    batch = state.batches[answered.batch_id]
    view = make_batch_view(state, batch)
    return PublishResults(
        batch_id=answered.batch_id,
        results=answered.results,
        under_way=batch.requested_publish is not None or batch.publishing is not None,
        branch=view.branch or None,
        commit=view.shipped or None,
        pr_url=view.pr_url or None,
        unshipped=view.unshipped,
    )
