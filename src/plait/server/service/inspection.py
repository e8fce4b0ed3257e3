"""Logs, diffs, conflicts and explanations of tasks and gates."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from plait.agents.output_parser import JsonLinesParser
from plait.client.api_errors import NotFoundError, StateError
from plait.client.batch_lookup import choose_attempt, choose_gate
from plait.client.conflicts import ConflictView, TaskConflict, describe_conflict, view_conflict
from plait.client.diff import (
    Diff,
    DiffRange,
    FullDiff,
    compute_diff,
    describe_full_diff,
    find_attempt_range,
    find_batch_range,
    find_task_range,
)
from plait.client.full_explanation import (
    Explanation,
    TaskResultDetails,
    build_explanation,
    confirm_result,
    describe_explanation,
    describe_result,
)
from plait.client.history import HistoryIndex, PastAttempt
from plait.client.logs.attempt_output import is_attempt_running, load_parser, strip_ansi
from plait.client.logs.transcript_page import make_log_events, read_page
from plait.client.session import Session
from plait.client.stream_event import format_json_line
from plait.core.errors import UserError, WorldError
from plait.core.fast_dataclass import dataclass
from plait.core.state import BatchState, State, TaskState
from plait.core.task import Attempt, Step, make_gate_attempt
from plait.core.views import find_batch_status, make_task_view
from plait.git.command import GitError
from plait.git.location import RepoLocation
from plait.runtime.attempt_files import open_transcript
from plait.server.project_session import ProjectSession
from plait.server.service.lookup import resolve_batch, resolve_batch_and_task, resolve_task
from plait.store import project_files
from plait.store.batch_files import load_redactor

LOG_PART_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class LogPart:
    """A part of a transcript from `offset` to `next`. `ended`: the attempt is over, and this is the last part."""

    attempt: Attempt
    offset: int
    next: int
    ended: bool
    text: str


async def read_log(  # noqa: PLR0913 - what can be asked of a transcript
    session: ProjectSession,
    batch: str | None,
    task: str,
    *,
    start: int = 0,
    most: int = LOG_PART_BYTES,
    attempt: int | None = None,
    step: Step = Step.WRITE,
    events: bool = False,
) -> LogPart:
    """The output of an attempt (None: the newest), without secrets; `start` < 0: relative to the end.

    `events`: as `execution:log` events, one per line. Raises NotFoundError, or StateError before the first attempt.
    """

    def read(client: Session) -> tuple[Attempt, bool, Sequence[PastAttempt]]:
        state = client.preview_state()
        found, of = resolve_batch_and_task(state, batch, task)
        name = _choose_attempt(state, found, of, step, attempt)
        return (
            name,
            is_attempt_running(state, name),
            session.follower.history.get_batch(found.id).list_attempts(of.task.id),
        )

    name, running, past = await session.query(read)
    parsed = past if events else None
    return await asyncio.to_thread(_read_log_part, session.place, name, (start, most), running=running, past=parsed)


async def read_gate_log(
    session: ProjectSession,
    batch: str | None,
    *,
    gate: int | None = None,
    start: int = 0,
    most: int = LOG_PART_BYTES,
) -> LogPart:
    """As `read_log`, of a gate of the batch (None: the newest). Raises NotFoundError if there is none."""

    def read(client: Session) -> tuple[Attempt, bool]:
        state = client.preview_state()
        name = _choose_gate(resolve_batch(state, batch), gate)
        return name, is_attempt_running(state, name)

    name, running = await session.query(read)
    return await asyncio.to_thread(_read_log_part, session.place, name, (start, most), running=running, past=None)


async def prints_json_events(session: ProjectSession, attempt: Attempt) -> bool:
    """Whether its output is JSON lines, which people read as events."""
    past = await session.query(lambda _: session.follower.history.get_batch(attempt.batch).list_attempts(attempt.task))
    listener = await asyncio.to_thread(load_parser, session.place, attempt, past)
    return isinstance(listener, JsonLinesParser)


async def read_explanation(session: ProjectSession, batch: str | None, task: str) -> Explanation:
    """As `explain --json`."""

    def read(client: Session) -> tuple[Explanation, TaskResultDetails | None]:
        state = client.preview_state()
        found, of = resolve_batch_and_task(state, batch, task)
        history = session.follower.history.get_batch(found.id)
        known = build_explanation(client.place, state, found, of, history)
        return describe_explanation(known), known.result

    described, expected = await session.query(read)
    result = await asyncio.to_thread(confirm_result, session.place, expected)
    return replace(described, result=describe_result(result))


async def read_diff(
    session: ProjectSession, batch: str | None, task: str | None, *, attempt: int | None = None
) -> FullDiff:
    """As `diff --json`, of a task, an attempt or the whole batch. Raises StateError if there is none."""
    name, comparison, state = await find_comparison(session, batch, task, attempt=attempt)

    def read() -> FullDiff:
        with open_comparison(session.place, comparison, state) as found:
            return describe_full_diff(name, comparison.attempt, found)

    return await asyncio.to_thread(read)


async def read_task_conflict(session: ProjectSession, batch: str | None, task: str) -> TaskConflict:
    """Both sides of each conflicting file. Raises StateError without a conflict."""

    def read(client: Session) -> tuple[ConflictView, str]:
        state = client.preview_state()
        found, of = resolve_batch_and_task(state, batch, task)
        status = make_task_view(state, found, of).status.value
        met = view_conflict(found, of, session.follower.history.get_batch(found.id).find_conflict(of.task.id))
        if met is None:
            raise StateError(f"{of.task.id} has no conflict", state=status)
        return met, status

    met, status = await session.query(read)

    def sides() -> TaskConflict:
        with _map_to_state_error(status):
            return describe_conflict(session.place, met)

    return await asyncio.to_thread(sides)


async def find_comparison(
    session: ProjectSession, batch: str | None, task: str | None, *, attempt: int | None = None
) -> tuple[str, DiffRange, str]:
    """The batch's id, the range to compare, and the status of the task or batch."""

    def read(client: Session) -> tuple[str, DiffRange, str]:
        state = client.preview_state()
        found = resolve_batch(state, batch)
        if task is None:
            status = find_batch_status(found)[0].value
            with _map_to_state_error(status):
                return found.id, find_batch_range(found), status
        of = resolve_task(found, task)
        status = make_task_view(state, found, of).status.value
        with _map_to_state_error(status):
            return found.id, _compare_task(session.follower.history, state, (found, of), attempt), status

    return await session.query(read)


@contextmanager
def open_comparison(place: RepoLocation, wanted: DiffRange, state: str) -> Iterator[Diff]:
    """Raises StateError if there is nothing to compare yet."""
    with _map_to_state_error(state), compute_diff(place, wanted) as found:
        yield found


def _compare_task(
    chronicle: HistoryIndex, state: State, of: tuple[BatchState, TaskState], attempt: int | None
) -> DiffRange:
    batch, task = of
    if attempt is None:
        return find_task_range(state, batch, task)
    return find_attempt_range(
        state,
        batch,
        task,
        attempt,
        lambda: chronicle.get_batch(batch.id).list_attempts(task.task.id),
    )


def _choose_attempt(state: State, batch: BatchState, task: TaskState, step: Step, number: int | None) -> Attempt:
    with _map_to_state_error(make_task_view(state, batch, task).status.value):
        return choose_attempt(state, batch, task, step, number)


def _choose_gate(batch: BatchState, number: int | None) -> Attempt:
    try:
        return make_gate_attempt(batch.id, choose_gate(batch, number))
    except (UserError, WorldError) as error:
        raise NotFoundError(error.message, hint=error.hint) from error


@contextmanager
def _map_to_state_error(state: str) -> Iterator[None]:
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
    place: RepoLocation,
    name: Attempt,
    part: tuple[int, int],
    *,
    running: bool,
    past: Sequence[PastAttempt] | None,
) -> LogPart:
    """`past`: the task's attempts, which say how to parse its output as events; None: as text."""
    folder = project_files.open_state_paths(place)
    hide = load_redactor(folder, name.batch)
    found = read_page(open_transcript(folder, name), *part, ended=not running)
    if past is None:
        text = hide(strip_ansi(found.redact_text(hide)))  # again: colours may have split a secret
    else:
        events = make_log_events(name, found, load_parser(place, name, past), hide, time.time())
        text = "".join(f"{format_json_line(event)}\n" for event in events)
    return LogPart(name, found.offset, found.next, not running and found.last, text)
