"""Logs, diffs, conflicts and explanations."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from enum import StrEnum
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from plait.client.conflicts import TaskConflict
from plait.client.diff import DiffRange, FullDiff
from plait.client.full_explanation import Explanation
from plait.client.pull_request_preview import PullRequestPreview
from plait.core.task import Step
from plait.git.location import RepoLocation
from plait.server.http.responses import make_response
from plait.server.http.routes.dependencies import BATCH_PATH, TASK_PATH, BatchId, SessionDep, TaskName
from plait.server.http.schema.base import Responses, document_responses
from plait.server.project_session import ProjectSession
from plait.server.service import batches, inspection
from plait.server.service.inspection import open_comparison

router = APIRouter(tags=["reading"])
_MAX_OFFSET = 1 << 53
TEXT_MEDIA_TYPE = "text/plain; charset=utf-8"
NDJSON_MEDIA_TYPE = "application/x-ndjson"


class LogFormat(StrEnum):
    TEXT = "text"
    EVENTS = "events"


class DiffFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


StartOffset = Annotated[
    int,
    Query(
        alias="from",
        ge=-_MAX_OFFSET,
        le=_MAX_OFFSET,
        description="A byte offset; negative: relative to the end",
    ),
]

AttemptNumber = Annotated[int | None, Query(ge=1, le=1_000_000, description="None: the newest")]
StepName = Annotated[Literal["write", "verify"], Query(description="The attempt itself, or its verification")]
MaxBytes = Annotated[int, Query(ge=64 << 10, le=8 << 20, description="Maximum size in bytes")]


def _integer_header(about: str) -> dict[str, object]:
    return {"description": about, "schema": {"type": "integer"}}


def _log_responses(*types: str, **more: dict[str, object]) -> Responses:
    """`more`: headers that identify the attempt or gate."""
    headers = {
        "Plait-Offset": _integer_header("Where this part starts; later than requested if something was left out"),
        "Plait-Next": _integer_header("Where the next part starts"),
        "Plait-Ended": {"description": "This is the last part", "schema": {"type": "boolean"}},
        **{f"Plait-{name}": about for name, about in more.items()},
    }
    return {
        200: {
            "description": "A part of the transcript in whole lines, without secrets",
            "content": {kind: {"schema": {"type": "string"}} for kind in types},
            "headers": headers,
        }
    }


_LOG_RESPONSES = _log_responses(
    TEXT_MEDIA_TYPE,
    NDJSON_MEDIA_TYPE,
    Attempt={"description": "The attempt, such as `write-2`", "schema": {"type": "string"}},
)

_GATE_LOG_RESPONSES = _log_responses(TEXT_MEDIA_TYPE, Gate=_integer_header("The gate's number"))

_DIFF_RESPONSES: Responses = {
    200: {
        "model": FullDiff,
        "description": "As from `git diff`, or as JSON",
        "content": {TEXT_MEDIA_TYPE: {"schema": {"type": "string"}}},
    }
}


@router.get(
    f"{TASK_PATH}/log",
    response_class=Response,
    responses=document_responses(None, 409, also=_LOG_RESPONSES),
)
async def get_log(  # noqa: PLR0913, PLR0917 - what can be asked of a transcript
    session: SessionDep,
    batch_id: BatchId,
    task_id: TaskName,
    start: StartOffset = 0,
    attempt: AttemptNumber = None,
    step: StepName = "write",
    limit: MaxBytes = inspection.LOG_PART_BYTES,
    format: LogFormat = LogFormat.TEXT,  # noqa: A002 - as it is called in the query
) -> Response:
    """The output of an attempt, from an offset on. `format=events`: as `execution:log` events, one per line."""
    events = format is LogFormat.EVENTS
    found = await inspection.read_log(
        session, batch_id, task_id, start=start, most=limit, attempt=attempt, step=Step(step), events=events
    )
    whose = {"Plait-Attempt": f"{found.attempt.step.value}-{found.attempt.n}"}
    return _log_response(found, whose, NDJSON_MEDIA_TYPE if events else TEXT_MEDIA_TYPE)


@router.get(
    f"{BATCH_PATH}/log",
    response_class=Response,
    responses=document_responses(None, 409, also=_GATE_LOG_RESPONSES),
)
async def read_gate_log(
    session: SessionDep,
    batch_id: BatchId,
    gate: AttemptNumber = None,
    start: StartOffset = 0,
    limit: MaxBytes = inspection.LOG_PART_BYTES,
) -> Response:
    """The output of a gate of the batch, from an offset on."""
    found = await inspection.read_gate_log(session, batch_id, gate=gate, start=start, most=limit)
    return _log_response(found, {"Plait-Gate": str(found.attempt.n)}, TEXT_MEDIA_TYPE)


@router.get(
    f"{TASK_PATH}/diff",
    response_class=Response,
    responses=document_responses(None, 409, also=_DIFF_RESPONSES),
)
async def get_task_diff(  # noqa: PLR0913, PLR0917
    session: SessionDep,
    batch_id: BatchId,
    task_id: TaskName,
    start: Annotated[int, Query(alias="from", ge=0, le=_MAX_OFFSET)] = 0,
    attempt: AttemptNumber = None,
    format: DiffFormat = DiffFormat.TEXT,  # noqa: A002
) -> Response:
    """What it changed, also while it is running."""
    if format is DiffFormat.JSON:
        return make_response(await inspection.read_diff(session, batch_id, task_id, attempt=attempt))
    return await _diff_text_response(session, batch_id, task_id, attempt, start)


@router.get(
    f"{BATCH_PATH}/diff",
    response_class=Response,
    responses=document_responses(None, 409, also=_DIFF_RESPONSES),
)
async def get_batch_diff(
    session: SessionDep,
    batch_id: BatchId,
    start: Annotated[int, Query(alias="from", ge=0, le=_MAX_OFFSET)] = 0,
    format: DiffFormat = DiffFormat.TEXT,  # noqa: A002
) -> Response:
    """The changes of the batch branch since its base."""
    if format is DiffFormat.JSON:
        return make_response(await inspection.read_diff(session, batch_id, None))
    return await _diff_text_response(session, batch_id, None, None, start)


@router.get(f"{TASK_PATH}/explain", responses=document_responses(Explanation, 409))
async def explain_task(session: SessionDep, batch_id: BatchId, task_id: TaskName) -> Response:
    """Why it has its status, its attempts, and what would make it continue."""
    return make_response(await inspection.read_explanation(session, batch_id, task_id))


@router.get(f"{TASK_PATH}/conflict", responses=document_responses(TaskConflict, 409))
async def get_conflict(session: SessionDep, batch_id: BatchId, task_id: TaskName) -> Response:
    """Both sides of its conflict, file by file."""
    return make_response(await inspection.read_task_conflict(session, batch_id, task_id))


@router.get(f"{BATCH_PATH}/pr", responses=document_responses(PullRequestPreview, 409))
async def get_pull_request_text(session: SessionDep, batch_id: BatchId) -> Response:
    """The text of the batch's pull request, if it were opened or updated now."""
    return make_response(await batches.read_pull_request_preview(session, batch_id))


def _log_response(found: inspection.LogPart, whose: dict[str, str], kind: str) -> Response:
    headers = {
        "Plait-Offset": str(found.offset),
        "Plait-Next": str(found.next),
        "Plait-Ended": "true" if found.ended else "false",
        **whose,
    }
    return Response(found.text.encode("utf-8", "replace"), headers=headers, media_type=kind)


async def _diff_text_response(
    session: ProjectSession, batch: str, task: str | None, attempt: int | None, start: int
) -> Response:
    _, comparison, state = await inspection.find_comparison(session, batch, task, attempt=attempt)
    return await DiffTextResponse.start(session.place, comparison, state, start)


class DiffTextResponse(StreamingResponse):
    """Sends a diff as it is read; its source stays open until the response is complete."""

    def __init__(self, pieces: Iterator[bytes], stack: ExitStack) -> None:
        super().__init__(_iterate_in_thread(pieces), media_type=TEXT_MEDIA_TYPE)
        self._stack = stack

    @classmethod
    async def start(cls, place: RepoLocation, comparison: DiffRange, state: str, from_byte: int) -> DiffTextResponse:
        """Raises StateError or WorldError before anything is sent."""
        stack = ExitStack()

        def begin() -> Iterator[bytes]:
            found = stack.enter_context(open_comparison(place, comparison, state))
            return _skip_bytes(found.read_text(), from_byte)

        try:
            return cls(await asyncio.to_thread(begin), stack)
        except BaseException:
            await asyncio.to_thread(stack.close)
            raise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await asyncio.shield(asyncio.to_thread(self._stack.close))


async def _iterate_in_thread(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    while piece := await asyncio.to_thread(next, pieces, b""):
        yield piece


def _skip_bytes(pieces: Iterator[bytes], count: int) -> Iterator[bytes]:
    for piece in pieces:
        if len(piece) > count:
            yield piece[count:]
        count = max(0, count - len(piece))
