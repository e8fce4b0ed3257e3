"""Logs, diffs, conflicts, explanations, and the text of a pull request."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Literal

from fastapi import Query, Response
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from plait.agents.output_parser import JsonLinesParser
from plait.client.api_errors import NotFoundError, StateError
from plait.client.batch_lookup import choose_attempt, choose_gate, find_failed_check
from plait.client.conversation import Conversation, ConversationDraft, complete_conversation, draft_conversation
from plait.client.diff import (
    DiffRange,
    FullDiff,
    compute_diff,
    describe_full_diff,
    find_attempt_range,
    find_batch_range,
    find_range_since,
    find_task_range,
)
from plait.client.event_types import format_json_line
from plait.client.full_explanation import (
    Explanation,
    TaskResultDetails,
    build_explanation,
    confirm_result,
    describe_explanation,
    describe_result,
)
from plait.client.history import PastAttempt
from plait.client.logs.attempt_output import is_attempt_running, load_parser, strip_ansi
from plait.client.logs.transcript_page import make_log_events, read_page
from plait.client.pull_request_preview import PullRequestPreview, preview_pull_request
from plait.client.session import Session
from plait.core.errors import UserError, WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.requests import PullRequestOverride
from plait.core.scheduler.batches import why_not_publish
from plait.core.state import TaskState
from plait.core.task import Attempt, Step, make_gate_attempt
from plait.core.views import BatchView, find_batch_status, make_batch_view, make_task_view
from plait.git.command import GitError
from plait.git.location import RepoLocation
from plait.runtime.attempt_files import open_transcript
from plait.server.http.routes.routing import (
    BATCH_PATH,
    TASK_PATH,
    BatchId,
    Responses,
    Routes,
    SessionDep,
    TaskName,
)
from plait.server.lookup import resolve_batch, resolve_batch_and_task, resolve_task
from plait.server.project_session import ProjectSession
from plait.store import project_files
from plait.store.batch_secrets import load_content_redactor, load_redactor

routes = Routes("reading")

LOG_PART_BYTES = 1 << 20
_MAX_OFFSET = 1 << 53
_TEXT_MEDIA_TYPE = "text/plain; charset=utf-8"
_NDJSON_MEDIA_TYPE = "application/x-ndjson"


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
DiffOffset = Annotated[int, Query(alias="from", ge=0, le=_MAX_OFFSET)]
AttemptNumber = Annotated[int | None, Query(ge=1, le=1_000_000, description="None: the newest")]
EarlierAttempt = Annotated[int | None, Query(ge=1, le=1_000_000, description="An earlier attempt to compare with")]
StepName = Annotated[
    Literal["write", "verify"] | None,
    Query(
        description="The attempt itself, or its verification. None: from the start, the check at which the task failed"
    ),
]
MaxBytes = Annotated[int, Query(ge=64 << 10, le=8 << 20, description="Maximum size in bytes")]


def _header(kind: str, about: str) -> dict[str, object]:
    return {"description": about, "schema": {"type": kind}}


def _log_responses(*media_types: str, identifying_header: dict[str, object]) -> Responses:
    """`identifying_header`: the header that identifies the attempt or gate."""
    headers = {
        "Plait-Offset": _header("integer", "Where this part starts; later than requested if something was left out"),
        "Plait-Next": _header("integer", "Where the next part starts"),
        "Plait-Ended": _header("boolean", "This is the last part"),
        **identifying_header,
    }
    return {
        200: {
            "description": "A part of the transcript in whole lines, without secrets",
            "content": {kind: {"schema": {"type": "string"}} for kind in media_types},
            "headers": headers,
        }
    }


_LOG_RESPONSES = _log_responses(
    _TEXT_MEDIA_TYPE,
    _NDJSON_MEDIA_TYPE,
    identifying_header={"Plait-Attempt": _header("string", "The attempt, such as `write-2`")},
)
_GATE_LOG_RESPONSES = _log_responses(
    _TEXT_MEDIA_TYPE, identifying_header={"Plait-Gate": _header("integer", "The gate's number")}
)
_DIFF_RESPONSES: Responses = {
    200: {
        "model": FullDiff,
        "description": "As from `git diff`, or as JSON",
        "content": {_TEXT_MEDIA_TYPE: {"schema": {"type": "string"}}},
    }
}


@dataclass(frozen=True, slots=True)
class LogPart:
    """A part of a transcript from `offset` to `next`. `ended`: the attempt is over, and this is the last part."""

    attempt: Attempt
    offset: int
    next: int
    ended: bool
    text: str
    format: LogFormat


def _render_log(part: LogPart) -> Response:
    attempt = part.attempt
    headers = {
        "Plait-Offset": str(part.offset),
        "Plait-Next": str(part.next),
        "Plait-Ended": "true" if part.ended else "false",
    }
    if attempt.is_gate:
        headers["Plait-Gate"] = str(attempt.n)
    else:
        headers["Plait-Attempt"] = f"{attempt.step.value}-{attempt.n}"
    kind = _NDJSON_MEDIA_TYPE if part.format is LogFormat.EVENTS else _TEXT_MEDIA_TYPE
    return Response(part.text.encode("utf-8", "replace"), headers=headers, media_type=kind)


@routes.add("GET", f"{TASK_PATH}/log", render=_render_log, also=_LOG_RESPONSES, response_class=Response)
async def get_log(  # noqa: PLR0913, PLR0917 - what can be asked of a transcript
    session: SessionDep,
    batch_id: BatchId,
    task_id: TaskName,
    start: StartOffset = 0,
    attempt: AttemptNumber = None,
    step: StepName = None,
    limit: MaxBytes = LOG_PART_BYTES,
    format: LogFormat = LogFormat.TEXT,  # noqa: A002 - as it is called in the query
) -> LogPart:
    """The output of an attempt, from an offset on. `format=events`: as `execution:log` events, one per line.

    Without `step` and `attempt`, of the verification or gate for which the task failed, else of its newest attempt. To
    read on from an offset, name the attempt of the answer.
    """
    wants_failed = step is None and attempt is None and start <= 0

    def read(client: Session) -> tuple[Attempt, bool, Sequence[PastAttempt]]:
        state = client.preview_state()
        batch, task = resolve_batch_and_task(state, batch_id, task_id)
        history = session.follower.history.get_batch(batch.id)

        def find_gate(task: TaskState) -> int | None:
            gate = history.find_deciding_gate(task.task.id)
            return None if gate is None else gate.decision.n

        failed = find_failed_check(batch, task, find_gate) if wants_failed else None
        with map_to_state_error(make_task_view(state, batch, task).status.value):
            name = failed or choose_attempt(state, batch, task, Step(step or "write"), attempt)
        return name, is_attempt_running(state, name), history.list_attempts(task.task.id)

    name, running, attempts = await session.query(read)
    past_attempts = attempts if format is LogFormat.EVENTS else None
    return await asyncio.to_thread(
        _read_log_part, session.location, name, (start, limit), running=running, past_attempts=past_attempts
    )


@routes.add("GET", f"{BATCH_PATH}/log", render=_render_log, also=_GATE_LOG_RESPONSES, response_class=Response)
async def read_gate_log(
    session: SessionDep,
    batch_id: BatchId,
    gate: AttemptNumber = None,
    start: StartOffset = 0,
    limit: MaxBytes = LOG_PART_BYTES,
) -> LogPart:
    """The output of a gate of the batch, from an offset on."""

    def read(client: Session) -> tuple[Attempt, bool]:
        state = client.preview_state()
        found = resolve_batch(state, batch_id)
        try:
            name = make_gate_attempt(found.id, choose_gate(found, gate))
        except (UserError, WorldError) as error:
            raise NotFoundError(error.message, hint=error.hint) from error
        return name, is_attempt_running(state, name)

    name, running = await session.query(read)
    return await asyncio.to_thread(
        _read_log_part, session.location, name, (start, limit), running=running, past_attempts=None
    )


async def prints_json_events(session: ProjectSession, attempt: Attempt) -> bool:
    """Whether its output is JSON lines, which people read as events."""
    past_attempts = await session.query(
        lambda _: session.follower.history.get_batch(attempt.batch).list_attempts(attempt.task)
    )
    listener = await asyncio.to_thread(load_parser, session.location, attempt, past_attempts)
    return isinstance(listener, JsonLinesParser)


@routes.add("GET", f"{TASK_PATH}/diff", also=_DIFF_RESPONSES, response_class=Response)
async def get_task_diff(  # noqa: PLR0913, PLR0917
    session: SessionDep,
    batch_id: BatchId,
    task_id: TaskName,
    start: DiffOffset = 0,
    attempt: AttemptNumber = None,
    since: EarlierAttempt = None,
    format: DiffFormat = DiffFormat.TEXT,  # noqa: A002
) -> FullDiff | Response:
    """What it changed, also while it is running. `since`: only what is different from an earlier attempt."""
    if format is DiffFormat.JSON:
        return await read_diff(session, batch_id, task_id, attempt=attempt, since=since)
    return await _start_diff_text(session, (batch_id, task_id, attempt, since), start)


@routes.add("GET", f"{BATCH_PATH}/diff", also=_DIFF_RESPONSES, response_class=Response)
async def get_batch_diff(
    session: SessionDep,
    batch_id: BatchId,
    start: DiffOffset = 0,
    format: DiffFormat = DiffFormat.TEXT,  # noqa: A002
) -> FullDiff | Response:
    """The changes of the batch branch since its base."""
    if format is DiffFormat.JSON:
        return await read_diff(session, batch_id, None)
    return await _start_diff_text(session, (batch_id, None, None, None), start)


@routes.add("GET", f"{TASK_PATH}/explain", Explanation)
async def explain_task(session: SessionDep, batch_id: BatchId, task_id: TaskName) -> Explanation:
    """Why it has its status, its attempts, and what would make it continue."""

    def read(client: Session) -> tuple[Explanation, TaskResultDetails | None]:
        state = client.preview_state()
        batch, task = resolve_batch_and_task(state, batch_id, task_id)
        history = session.follower.history.get_batch(batch.id)
        explanation = build_explanation(client.location, state, batch, task, history)
        return describe_explanation(explanation), explanation.result

    described, expected = await session.query(read)
    result = await asyncio.to_thread(confirm_result, session.location, expected)
    return replace(described, result=describe_result(result))


@routes.add("GET", f"{TASK_PATH}/conversation", Conversation)
async def get_conversation(session: SessionDep, batch_id: BatchId, task_id: TaskName) -> Conversation:
    """What happened to it, in order: attempts and what they were told, checks, questions, merges, publishing."""

    def read(client: Session) -> ConversationDraft:
        state = client.preview_state()
        batch, task = resolve_batch_and_task(state, batch_id, task_id)
        return draft_conversation(session.follower.history.get_batch(batch.id), batch, task)

    draft = await session.query(read)
    return await asyncio.to_thread(complete_conversation, session.location, draft)


@routes.add("GET", f"{BATCH_PATH}/pr", PullRequestPreview)
async def get_pull_request_text(session: SessionDep, batch_id: BatchId) -> PullRequestPreview:
    """The text of the batch's pull request, if it were opened or updated now."""

    def read(client: Session) -> tuple[BatchView, PullRequestOverride, str | None, bool]:
        batch = resolve_batch(state := client.preview_state(), batch_id)
        under_way = batch.requested_publish is not None or batch.publishing is not None
        return make_batch_view(state, batch), batch.pull_request_override, why_not_publish(batch), under_way

    view, wording, why_not, under_way = await session.query(read)
    return await asyncio.to_thread(preview_pull_request, session.location, view, wording, why_not, under_way=under_way)


async def read_diff(
    session: ProjectSession,
    batch: str | None,
    task: str | None,
    *,
    attempt: int | None = None,
    since: int | None = None,
) -> FullDiff:
    """As `diff --json`, of a task, an attempt or the whole batch. Raises StateError if there is none."""
    name, comparison, state = await _find_comparison(session, batch, task, attempt, since)

    def read() -> FullDiff:
        redactor = load_content_redactor(project_files.open_state_paths(session.location), name)
        with map_to_state_error(state), compute_diff(session.location, comparison) as full_diff:
            return describe_full_diff(name, comparison, full_diff, redactor)

    return await asyncio.to_thread(read)


async def _find_comparison(
    session: ProjectSession, batch: str | None, task: str | None, attempt: int | None, since: int | None
) -> tuple[str, DiffRange, str]:
    """The batch's id, the range to compare, and the status of the task or batch."""

    def read(client: Session) -> tuple[str, DiffRange, str]:
        state = client.preview_state()
        batch_state = resolve_batch(state, batch)
        if task is None:
            status = find_batch_status(batch_state)[0].value
            with map_to_state_error(status):
                return batch_state.id, find_batch_range(batch_state), status
        task_state = resolve_task(batch_state, task)
        status = make_task_view(state, batch_state, task_state).status.value
        with map_to_state_error(status):
            if attempt is None and since is None:
                return batch_state.id, find_task_range(state, batch_state, task_state), status
            n = attempt or task_state.attempt_counts.get(Step.WRITE, 0)
            history = session.follower.history.get_batch(batch_state.id)

            def list_attempts() -> Sequence[PastAttempt]:
                return history.list_attempts(task_state.task.id)

            if since is None:
                compared = find_attempt_range(state, batch_state, task_state, n, list_attempts)
            else:
                compared = find_range_since(state, batch_state, task_state, (since, n), list_attempts)
            return batch_state.id, compared, status

    return await session.query(read)


@contextmanager
def map_to_state_error(state: str) -> Iterator[None]:
    """Errors about missing attempts or commits are a matter of the state, except for those of git."""
    try:
        yield
    except GitError:
        raise
    except WorldError as error:
        raise StateError(error.message, state=state, hint=error.hint) from error
    except UserError as error:
        raise NotFoundError(error.message, hint=error.hint) from error


def _read_log_part(
    location: RepoLocation,
    name: Attempt,
    part: tuple[int, int],
    *,
    running: bool,
    past_attempts: Sequence[PastAttempt] | None,
) -> LogPart:
    """`past_attempts`: the task's attempts, which say how to parse its output as events; None: as text."""
    folder = project_files.open_state_paths(location)
    hide = load_redactor(folder, name.batch)
    page = read_page(open_transcript(folder, name), *part, ended=not running)
    if past_attempts is None:
        text = hide(strip_ansi(page.redact_text(hide)))  # again: control characters may have split a secret
    else:
        events = make_log_events(name, page, load_parser(location, name, past_attempts), hide, time.time())
        text = "".join(f"{format_json_line(event)}\n" for event in events)
    log_format = LogFormat.TEXT if past_attempts is None else LogFormat.EVENTS
    return LogPart(name, page.offset, page.next, not running and page.last, text, log_format)


async def _start_diff_text(
    session: ProjectSession, compared: tuple[str | None, str | None, int | None, int | None], start: int
) -> DiffTextResponse:
    """Raises StateError or WorldError before anything is sent."""
    name, comparison, state = await _find_comparison(session, *compared)
    stack = ExitStack()

    def begin() -> Iterator[bytes]:
        redactor = load_content_redactor(project_files.open_state_paths(session.location), name)
        with map_to_state_error(state):
            diff = stack.enter_context(compute_diff(session.location, comparison))
            return _skip_bytes(redactor.redact_diff(diff.read_text()), start)

    try:
        return DiffTextResponse(await asyncio.to_thread(begin), stack)
    except BaseException:
        await asyncio.to_thread(stack.close)
        raise


class DiffTextResponse(StreamingResponse):
    """Sends a diff as it is read; its source stays open until the response is complete."""

    def __init__(self, chunks: Iterator[bytes], stack: ExitStack) -> None:
        super().__init__(_iterate_in_thread(chunks), media_type=_TEXT_MEDIA_TYPE)
        self._stack = stack

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await asyncio.shield(asyncio.to_thread(self._stack.close))


async def _iterate_in_thread(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    while chunk := await asyncio.to_thread(next, chunks, b""):
        yield chunk


def _skip_bytes(chunks: Iterator[bytes], count: int) -> Iterator[bytes]:
    for chunk in chunks:
        if len(chunk) > count:
            yield chunk[count:]
        count = max(0, count - len(chunk))
