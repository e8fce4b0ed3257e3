"""A batch's pull request: what it would say if it were opened or brought up to date now."""

from __future__ import annotations

import asyncio

from plait.client.pull_request_preview import PullRequestPreview, build_pull_request_preview
from plait.core.requests__wording import PullRequestOverride
from plait.core.scheduler.batches import why_not_publish
from plait.core.state import State
from plait.core.views import BatchView, make_batch_view
from plait.server.project_session import ProjectSession
from plait.server.service.lookup import resolve_batch

Json = dict[str, object]


async def read_pull_request_preview(session: ProjectSession, batch: str | None) -> Json:
    """Git is asked off the desk's thread, and nobody over a network."""

    def read(state: State) -> tuple[BatchView, PullRequestOverride, str | None, bool]:
        found = resolve_batch(state, batch)
        under_way = found.requested_publish is not None or found.publishing is not None
        return make_batch_view(state, found), found.pull_request_override, why_not_publish(found), under_way

    view, wording, why_not, under_way = await session.query(lambda desk: read(desk.preview_state()))
    found = await asyncio.to_thread(build_pull_request_preview, session.place, view, wording, why_not)
    return _pull_request_json(view, found, under_way=under_way)


def _pull_request_json(view: BatchView, found: PullRequestPreview, *, under_way: bool) -> Json:
    return {
        "batchId": view.id,
        "title": found.text.title,
        "body": found.text.body,
        "own": {"title": found.default_text.title, "body": found.default_text.body},
        "branch": view.branch or None,
        "target": found.target or None,
        "url": view.pr_url or None,
        "shipped": bool(view.shipped) and not view.is_outdated,
        "underWay": under_way,
        "canPublish": not found.pull_request_problem,
        "canPush": not found.push_problem,
        "why": found.pull_request_problem or None,
        "hint": found.hint or None,
    }
