"""Logs, explanations, conversations, and the text of a pull request."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Literal

from fastapi import Query, Response

from plait.agents.output_parser import JsonLinesParser
from plait.client.api_errors import NotFoundError, StateError
from plait.client.batch_lookup import choose_attempt, choose_gate, find_failed_check
from plait.client.conversation import Conversation, ConversationDraft, complete_conversation, draft_conversation
from plait.client.event_types import format_json_line
from plait.client.full_explanation import (
    Explanation,
    TaskResultDetails,
    build_explanation,
    confirm_result,
    describe_explanation,
    describe_result,
    find_nodes,
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
from plait.core.views import BatchView, make_batch_view, make_task_view
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
from plait.server.lookup import resolve_batch, resolve_batch_and_task
from plait.server.project_session import ProjectSession
from plait.store import project_files
from plait.store.batch_secrets import load_redactor

routes = Routes("reading")

LOG_PART_BYTES = 1 << 20
MAX_OFFSET = 1 << 53
TEXT_MEDIA_TYPE = "text/plain; charset=utf-8"
_NDJSON_MEDIA_TYPE = "application/x-ndjson"


class LogFormat(StrEnum):
    TEXT = "text"
    EVENTS = "events"


StartOffset = Annotated[
    int,
    Query(
        alias="from",
        ge=-MAX_OFFSET,
        le=MAX_OFFSET,
        description="A byte offset; negative: relative to the end",
    ),
]
AttemptNumber = Annotated[int | None, Query(ge=1, le=1_000_000, description="None: the newest")]
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
    """Describe the responses with a log; `identifying_header` identifies the attempt or gate."""
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
    TEXT_MEDIA_TYPE,
    _NDJSON_MEDIA_TYPE,
    identifying_header={"Plait-Attempt": _header("string", "The attempt, such as `write-2`")},
)
_GATE_LOG_RESPONSES = _log_responses(
    TEXT_MEDIA_TYPE, identifying_header={"Plait-Gate": _header("integer", "The gate's number")}
)


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
    kind = _NDJSON_MEDIA_TYPE if part.format is LogFormat.EVENTS else TEXT_MEDIA_TYPE
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
    continue reading from an offset, name the attempt of the answer.
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
    """Whether the attempt's output is JSON lines, which people read as events."""
    past_attempts = await session.query(
        lambda _: session.follower.history.get_batch(attempt.batch).list_attempts(attempt.task)
    )
    listener = await asyncio.to_thread(load_parser, session.location, attempt, past_attempts)
    return isinstance(listener, JsonLinesParser)


@routes.add("GET", f"{TASK_PATH}/explain", Explanation)
async def explain_task(session: SessionDep, batch_id: BatchId, task_id: TaskName) -> Explanation:
    """Why a task has its status, its attempts, and what would make it continue."""

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
    """What happened to a task, in order: attempts and their feedback, checks, questions, merges, publishing."""

    def read(client: Session) -> ConversationDraft:
        state = client.preview_state()
        batch, task = resolve_batch_and_task(state, batch_id, task_id)
        history = session.follower.history.get_batch(batch.id)
        nodes = find_nodes(client.location, batch, history.list_attempts(task.task.id))
        return draft_conversation(history, batch, task, nodes)

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


@contextmanager
def map_to_state_error(state: str) -> Iterator[None]:
    """Report errors about missing attempts or commits as state errors, except for those of git."""
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
    """Read a part of a log: parsed as events by the task's `past_attempts`, or, with None, as text."""
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
