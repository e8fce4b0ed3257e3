"""Logs, diffs, and why a task is where it is."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from plait.core.task import Step
from plait.server.acts import pulls, reading
from plait.server.difftext import DiffText
from plait.server.office import Office
from plait.server.replies import reply
from plait.server.routes.common import BatchId, InOffice, TaskName
from plait.server.shapes.errors import Responses, answers
from plait.server.shapes.pulls import PullRequest
from plait.server.shapes.reading import ConflictShape, DiffShape, Explanation

router = APIRouter(tags=["reading"])

_BATCH = "/api/batches/{batch_id}"
_TASK = "/api/batches/{batch_id}/tasks/{task_id:path}"
_FARTHEST = 1 << 53
PLAIN = "text/plain; charset=utf-8"
LINES = "application/x-ndjson"


class LogFormat(StrEnum):
    TEXT = "text"
    EVENTS = "events"


class DiffFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


From = Annotated[
    int,
    Query(
        alias="from",
        ge=-_FARTHEST,
        le=_FARTHEST,
        description="A byte's offset; below 0: so many before the end",
    ),
]
Attempt = Annotated[int | None, Query(ge=1, le=1_000_000, description="None: the newest")]
Steps = Annotated[Literal["write", "verify"], Query(description="What was written, or its verification")]
Most = Annotated[int, Query(ge=64 << 10, le=8 << 20, description="Bytes at a time")]


def _number(about: str) -> dict[str, object]:
    return {"description": about, "schema": {"type": "integer"}}


def _part(*types: str, **more: dict[str, object]) -> Responses:
    """`more` are headers that tell whose it is."""
    headers = {
        "Plait-Offset": _number("Where this part starts: later than asked for, where something was left out"),
        "Plait-Next": _number("Where the next part starts"),
        "Plait-Ended": {"description": "Nothing comes after it", "schema": {"type": "boolean"}},
        **{f"Plait-{name}": about for name, about in more.items()},
    }
    return {
        200: {
            "description": "A part of the transcript in whole lines, without secrets",
            "content": {kind: {"schema": {"type": "string"}} for kind in types},
            "headers": headers,
        }
    }


_LOG = _part(PLAIN, LINES, Attempt={"description": "Whose it is, as `write-2`", "schema": {"type": "string"}})
_GATE_LOG = _part(PLAIN, Gate=_number("Which gate's it is"))
_DIFF: Responses = {
    200: {
        "model": DiffShape,
        "description": "As `git diff` tells it, or as JSON",
        "content": {PLAIN: {"schema": {"type": "string"}}},
    }
}


@router.get(
    f"{_TASK}/log", operation_id="getLog", response_class=Response, responses=answers(None, 409, also=_LOG)
)
async def log(  # noqa: PLR0913, PLR0917 - what can be asked of a transcript
    office: InOffice,
    batch_id: BatchId,
    task_id: TaskName,
    start: From = 0,
    attempt: Attempt = None,
    step: Steps = "write",
    limit: Most = reading.MOST,
    format: LogFormat = LogFormat.TEXT,  # noqa: A002 - as it is called in the query
) -> Response:
    """What an attempt printed, from an offset on. `format=events`: what it said and did, an `execution:log` event a line."""
    events = format is LogFormat.EVENTS
    found = await reading.log(
        office, batch_id, task_id, start=start, most=limit, attempt=attempt, step=Step(step), events=events
    )
    whose = {"Plait-Attempt": f"{found.attempt.step.value}-{found.attempt.n}"}
    return _told(found, whose, LINES if events else PLAIN)


@router.get(
    f"{_BATCH}/log",
    operation_id="readGateLog",
    response_class=Response,
    responses=answers(None, 409, also=_GATE_LOG),
)
async def gate_log(
    office: InOffice,
    batch_id: BatchId,
    gate: Attempt = None,
    start: From = 0,
    limit: Most = reading.MOST,
) -> Response:
    """What a gate of the batch printed, from an offset on."""
    found = await reading.gate_log(office, batch_id, gate=gate, start=start, most=limit)
    return _told(found, {"Plait-Gate": str(found.attempt.n)}, PLAIN)


@router.get(
    f"{_TASK}/diff",
    operation_id="getTaskDiff",
    response_class=Response,
    responses=answers(None, 409, also=_DIFF),
)
async def diff(  # noqa: PLR0913, PLR0917
    office: InOffice,
    batch_id: BatchId,
    task_id: TaskName,
    start: Annotated[int, Query(alias="from", ge=0, le=_FARTHEST)] = 0,
    attempt: Attempt = None,
    format: DiffFormat = DiffFormat.TEXT,  # noqa: A002
) -> Response:
    """What it changed, also while it is at it."""
    if format is DiffFormat.JSON:
        return reply(await reading.diff(office, batch_id, task_id, attempt=attempt))
    return await _text(office, batch_id, task_id, attempt, start)


@router.get(
    f"{_BATCH}/diff",
    operation_id="getBatchDiff",
    response_class=Response,
    responses=answers(None, 409, also=_DIFF),
)
async def batch_diff(
    office: InOffice,
    batch_id: BatchId,
    start: Annotated[int, Query(alias="from", ge=0, le=_FARTHEST)] = 0,
    format: DiffFormat = DiffFormat.TEXT,  # noqa: A002
) -> Response:
    """All that the batch branch has and its base has not."""
    if format is DiffFormat.JSON:
        return reply(await reading.diff(office, batch_id, None))
    return await _text(office, batch_id, None, None, start)


@router.get(f"{_TASK}/explain", operation_id="explainTask", responses=answers(Explanation, 409))
async def explain(office: InOffice, batch_id: BatchId, task_id: TaskName) -> Response:
    """Why it is where it is, what it has been through, and what would make it go on."""
    return reply(await reading.explain(office, batch_id, task_id))


@router.get(f"{_TASK}/conflict", operation_id="getConflict", responses=answers(ConflictShape, 409))
async def conflict(office: InOffice, batch_id: BatchId, task_id: TaskName) -> Response:
    """Both sides of the conflict that it is in, file by file."""
    return reply(await reading.conflict(office, batch_id, task_id))


@router.get(f"{_BATCH}/pr", operation_id="getPullRequestText", responses=answers(PullRequest, 409))
async def pull_request(office: InOffice, batch_id: BatchId) -> Response:
    """What the batch's pull request would say, if it were opened or brought up to date now."""
    return reply(await pulls.pull_request(office, batch_id))


def _told(found: reading.Log, whose: dict[str, str], kind: str) -> Response:
    headers = {
        "Plait-Offset": str(found.offset),
        "Plait-Next": str(found.next),
        "Plait-Ended": "true" if found.ended else "false",
        **whose,
    }
    return Response(found.text.encode("utf-8", "replace"), headers=headers, media_type=kind)


async def _text(office: Office, batch: str, task: str | None, attempt: int | None, start: int) -> Response:
    _, wanted, state = await reading.compared(office, batch, task, attempt=attempt)
    return await DiffText.of(office.place, wanted, state, start)
