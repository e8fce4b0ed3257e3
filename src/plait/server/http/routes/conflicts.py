"""A task's conflict with the batch branch: both sides of it, and its resolution by a person."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field

from plait.client.api_errors import FieldError, StateError
from plait.client.conflicts import (
    ConflictChoices,
    ConflictView,
    TaskConflict,
    describe_conflict,
    make_resolution,
    view_conflict,
    view_resolvable,
)
from plait.client.session import Session
from plait.client.task_actions import ActionResults
from plait.core import requests
from plait.core.errors import UserError
from plait.core.fast_dataclass import dataclass
from plait.core.scheduler.request_answers import why_not_task
from plait.core.state import BatchState, TaskState
from plait.core.views import make_task_view
from plait.git.merge.resolution import Side
from plait.server.http.routes.actions import ActionOptions, TaskRequests, ask_and_report, identify, is_accepted
from plait.server.http.routes.inspection import map_to_state_error
from plait.server.http.routes.routing import DURABLE, TASK_PATH, BatchId, IdempotencyKey, Routes, SessionDep, TaskName
from plait.server.http.schema import ApiBody
from plait.server.idempotency import KeyedRequest, find_stored_requests
from plait.server.lookup import resolve_batch_and_task
from plait.server.project_session import ProjectSession

routes = Routes("conflicts")
_MAX_FILES = 1_000
_Commit = Annotated[str, Field(min_length=1, max_length=64)]


class FileResolution(ApiBody):
    """How to resolve a file: by either a `side` or a `text`."""

    path: Annotated[str, Field(min_length=1, max_length=4_000)]
    side: Literal["batch", "task"] | None = Field(default=None, description="The version to take")
    text: str | None = Field(default=None, description="The whole file as it should be")


class ResolveBody(ApiBody):
    """How to resolve a conflict. `with` and `tip` are those of the conflict that was looked at: if they have changed,
    the request is refused (409).
    """

    with_: _Commit = Field(alias="with")
    tip: _Commit
    files: Annotated[list[FileResolution], Field(max_length=_MAX_FILES)] = Field(default_factory=list)
    rest: Literal["batch", "task"] | None = Field(default=None, description="For all files that aren't named")
    markers: bool = Field(default=False, description="Lines like conflict markers may be left in texts")

    def to_choices(self) -> ConflictChoices:
        """Return the choices; raises UserError."""
        for file in self.files:
            if (file.side is None) is (file.text is None):
                raise UserError(f"{file.path} needs either a side or a text")
        files = {file.path: Side(file.side) if file.side else file.text or "" for file in self.files}
        if len(files) < len(self.files):
            raise UserError("a file is named twice")
        return ConflictChoices(files, Side(self.rest) if self.rest else None, self.markers)


@routes.add("GET", f"{TASK_PATH}/conflict", TaskConflict)
async def get_conflict(session: SessionDep, batch_id: BatchId, task_id: TaskName) -> TaskConflict:
    """Both sides of a task's conflict, file by file."""

    def read(client: Session) -> tuple[ConflictView, str]:
        found = _find_conflict(session, client, batch_id, task_id)
        if found.view is None:
            raise StateError(f"{found.task.task.id} has no conflict", state=found.status)
        return found.view, found.status

    conflict, status = await session.query(read)
    with map_to_state_error(status):
        return await asyncio.to_thread(describe_conflict, session.location, conflict)


@routes.add(
    "POST",
    f"{TASK_PATH}/resolve",
    ActionResults,
    accepted=(DURABLE, is_accepted),
    summary="Resolve",
)
async def resolve_task_conflict(
    session: SessionDep, batch_id: BatchId, task_id: TaskName, body: ResolveBody, key: IdempotencyKey = ""
) -> ActionResults:
    """Resolve a task's conflict without an agent: the result is verified, merged and gated."""
    with _name_field():
        choices = body.to_choices()
    request, view = await session.query(lambda client: _plan_request(session, client, (batch_id, task_id), body, key))
    if view is not None:
        with _name_field():
            made = await asyncio.to_thread(make_resolution, session.location, view, choices)
        request = replace(request, commit=made.commit, diffstat=made.diffstat, files=made.files)

    def choose(_: Session) -> tuple[str, TaskRequests]:
        return request.batch, [(request.task, request)]

    return await ask_and_report(session, choose, ActionOptions(key=key))


async def find_resolvable(session: ProjectSession, batch: str | None, task: str) -> ConflictView:
    """Return the current conflict. Raises UserError if there is none that can be resolved."""

    def find(client: Session) -> ConflictView:
        return view_resolvable(*resolve_batch_and_task(client.preview_state(), batch, task))

    return await session.query(find)


@contextmanager
def _name_field() -> Iterator[None]:
    """Report choices that don't fit the conflict as a mistake in the body, not as a state that prevents it."""
    try:
        yield
    except UserError as error:
        raise FieldError(error.message, field="files", hint=error.hint) from error


@dataclass(frozen=True, slots=True)
class _FoundConflict:
    batch: BatchState
    task: TaskState
    status: str
    view: ConflictView | None


def _find_conflict(session: ProjectSession, client: Session, batch_id: str | None, task_id: str) -> _FoundConflict:
    state = client.preview_state()
    batch, task = resolve_batch_and_task(state, batch_id, task_id)
    history = session.follower.history.get_batch(batch.id)
    view = view_conflict(batch, task, history.find_conflict(task.task.id))
    return _FoundConflict(batch, task, make_task_view(state, batch, task).status.value, view)


def _plan_request(
    session: ProjectSession, client: Session, names: tuple[str | None, str], body: ResolveBody, key: str
) -> tuple[requests.Resolve, ConflictView | None]:
    """Return the request without its commit, and the conflict to make that for; None: it was sent before.

    Raises StateError if it would be refused.
    """
    found = _find_conflict(session, client, *names)
    batch, task = found.batch.id, found.task.task.id
    keyed = KeyedRequest(key, session.id, ("resolve", batch, task, body.model_dump_json()))
    request = requests.Resolve(identify(client, keyed)(), batch, task, body.with_, body.tip, "")
    if key and request.id in find_stored_requests(client):
        return request, None
    if why := why_not_task(found.batch, found.task, request):
        raise StateError(why, state=found.status, hint="Look at the conflict again.")
    return request, view_resolvable(found.batch, found.task)
