"""Diffs of tasks, attempts and batches, and single files of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from enum import StrEnum
from typing import Annotated

from fastapi import Depends, Query, Response
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from plait.client.diff import (
    DiffRange,
    DiffSelection,
    FullDiff,
    choose_task_range,
    compute_diff,
    describe_full_diff,
    find_batch_range,
    open_trees,
)
from plait.client.diff_file import IMAGE_MEDIA_TYPES, DiffSide, FileVersion, read_image, read_text
from plait.client.session import Session
from plait.core.views import find_batch_status, make_task_view
from plait.server.http.middleware.security_headers import SANDBOXED_CONTENT
from plait.server.http.routes.inspection import MAX_OFFSET, TEXT_MEDIA_TYPE, AttemptNumber, map_to_state_error
from plait.server.http.routes.routing import BATCH_PATH, TASK_PATH, BatchId, Responses, Routes, SessionDep, TaskName
from plait.server.lookup import resolve_batch, resolve_task
from plait.server.project_session import ProjectSession
from plait.store import project_files
from plait.store.batch_secrets import load_content_redactor

routes = Routes("reading")


class DiffFormat(StrEnum):
    TEXT = "text"
    JSON = "json"


class FileFormat(StrEnum):
    TEXT = "text"
    IMAGE = "image"


DiffOffset = Annotated[int, Query(alias="from", ge=0, le=MAX_OFFSET)]
EarlierAttempt = Annotated[int | None, Query(ge=1, le=1_000_000, description="An earlier attempt to compare with")]
ResolutionNumber = Annotated[
    int | None, Query(ge=1, le=1_000_000, description="What a person made of its nth conflict, in place of an attempt")
]
FilePath = Annotated[str, Query(min_length=1, max_length=4_000, description="The file's name on this side")]
BlobId = Annotated[
    str,
    Query(
        pattern="^([0-9a-f]{4,64})?$",
        description="The beginning of its content's id, as in the diff's `index` line: 409 if it has changed since",
    ),
]
_DIFF_RESPONSES: Responses = {
    200: {
        "model": FullDiff,
        "description": "As from `git diff`, or as JSON",
        "content": {TEXT_MEDIA_TYPE: {"schema": {"type": "string"}}},
    }
}
_FILE_RESPONSES: Responses = {
    200: {
        "description": "The file, without secrets",
        "content": {kind: {"schema": {"type": "string"}} for kind in (TEXT_MEDIA_TYPE, *IMAGE_MEDIA_TYPES)},
    }
}
# An image that someone opens by itself is downloaded: an SVG is a document that could have scripts.
_IMAGE_HEADERS = {"Content-Security-Policy": SANDBOXED_CONTENT, "Content-Disposition": "attachment"}


def _parse_version(path: FilePath, side: DiffSide = DiffSide.NEW, blob: BlobId = "") -> FileVersion:
    return FileVersion(path, side, blob)


def _choose_change(
    attempt: AttemptNumber = None, since: EarlierAttempt = None, resolution: ResolutionNumber = None
) -> DiffSelection:
    return DiffSelection(attempt, since, resolution)


VersionDep = Annotated[FileVersion, Depends(_parse_version)]
SelectionDep = Annotated[DiffSelection, Depends(_choose_change)]
_OWN_CHANGE = DiffSelection()


@routes.add("GET", f"{TASK_PATH}/diff", also=_DIFF_RESPONSES, response_class=Response)
async def get_task_diff(  # noqa: PLR0913, PLR0917
    session: SessionDep,
    batch_id: BatchId,
    task_id: TaskName,
    which: SelectionDep,
    start: DiffOffset = 0,
    format: DiffFormat = DiffFormat.TEXT,  # noqa: A002
) -> FullDiff | Response:
    """What a task changed, also while it is running. `since`: only what is different from an earlier attempt."""
    if format is DiffFormat.JSON:
        return await read_diff(session, batch_id, task_id, which)
    return await _start_diff_text(session, batch_id, task_id, which, start)


@routes.add("GET", f"{BATCH_PATH}/diff", also=_DIFF_RESPONSES, response_class=Response)
async def get_batch_diff(
    session: SessionDep,
    batch_id: BatchId,
    start: DiffOffset = 0,
    format: DiffFormat = DiffFormat.TEXT,  # noqa: A002
) -> FullDiff | Response:
    """What the batch branch has changed since its base."""
    if format is DiffFormat.JSON:
        return await read_diff(session, batch_id, None)
    return await _start_diff_text(session, batch_id, None, _OWN_CHANGE, start)


@routes.add("GET", f"{TASK_PATH}/diff/file", also=_FILE_RESPONSES, response_class=Response)
async def get_task_diff_file(  # noqa: PLR0913, PLR0917 - what can be asked of a file
    session: SessionDep,
    batch_id: BatchId,
    task_id: TaskName,
    which: SelectionDep,
    version: VersionDep,
    format: FileFormat = FileFormat.TEXT,  # noqa: A002
) -> Response:
    """One file that a task changed, as a whole: its text, or the image that it is."""
    return await _read_file(session, batch_id, task_id, which, version, format)


@routes.add("GET", f"{BATCH_PATH}/diff/file", also=_FILE_RESPONSES, response_class=Response)
async def get_batch_diff_file(
    session: SessionDep,
    batch_id: BatchId,
    version: VersionDep,
    format: FileFormat = FileFormat.TEXT,  # noqa: A002
) -> Response:
    """One file that a batch changed, as a whole: its text, or the image that it is."""
    return await _read_file(session, batch_id, None, _OWN_CHANGE, version, format)


async def read_diff(
    session: ProjectSession, batch: str | None, task: str | None, which: DiffSelection = _OWN_CHANGE
) -> FullDiff:
    """Return what `diff --json` prints, of a task or the whole batch. Raises StateError if there is none."""
    name, comparison, state = await _find_comparison(session, batch, task, which)

    def read() -> FullDiff:
        redactor = load_content_redactor(project_files.open_state_paths(session.location), name)
        with map_to_state_error(state), compute_diff(session.location, comparison) as full_diff:
            return describe_full_diff(name, comparison, full_diff, redactor)

    return await asyncio.to_thread(read)


async def _find_comparison(
    session: ProjectSession, batch: str | None, task: str | None, which: DiffSelection
) -> tuple[str, DiffRange, str]:
    """Return the batch's id, the range to compare, and the status of the task or batch."""

    def read(client: Session) -> tuple[str, DiffRange, str]:
        state = client.preview_state()
        batch_state = resolve_batch(state, batch)
        if task is None:
            status = find_batch_status(batch_state)[0].value
            with map_to_state_error(status):
                return batch_state.id, find_batch_range(batch_state), status
        task_state = resolve_task(batch_state, task)
        status = make_task_view(state, batch_state, task_state).status.value
        history = session.follower.history.get_batch(batch_state.id)
        with map_to_state_error(status):
            return batch_state.id, choose_task_range(state, batch_state, task_state, which, lambda: history), status

    return await session.query(read)


async def _read_file(  # noqa: PLR0913, PLR0917
    session: ProjectSession,
    batch: str | None,
    task: str | None,
    which: DiffSelection,
    version: FileVersion,
    file_format: FileFormat,
) -> Response:
    name, comparison, state = await _find_comparison(session, batch, task, which)

    def read() -> Response:
        redactor = load_content_redactor(project_files.open_state_paths(session.location), name)
        with map_to_state_error(state), open_trees(session.location, comparison) as trees:
            if file_format is FileFormat.TEXT:
                return Response(read_text(trees, version, redactor), media_type=TEXT_MEDIA_TYPE)
            media_type, content = read_image(trees, version, redactor)
            return Response(content, media_type=media_type, headers=_IMAGE_HEADERS)

    return await asyncio.to_thread(read)


async def _start_diff_text(
    session: ProjectSession, batch: str | None, task: str | None, which: DiffSelection, start: int
) -> DiffTextResponse:
    """Start a response with the diff. Raises StateError or WorldError before anything is sent."""
    name, comparison, state = await _find_comparison(session, batch, task, which)
    stack = ExitStack()

    def begin() -> Iterator[bytes]:
        redactor = load_content_redactor(project_files.open_state_paths(session.location), name)
        with map_to_state_error(state):
            trees = stack.enter_context(open_trees(session.location, comparison))
            return _skip_bytes(redactor.redact_lines(trees.read_text(), line_start=1), start)

    try:
        return DiffTextResponse(await asyncio.to_thread(begin), stack)
    except BaseException:
        await asyncio.to_thread(stack.close)
        raise


class DiffTextResponse(StreamingResponse):
    """Sends a diff as it is read; its source stays open until the response is complete."""

    def __init__(self, chunks: Iterator[bytes], stack: ExitStack) -> None:
        super().__init__(_iterate_in_thread(chunks), media_type=TEXT_MEDIA_TYPE)
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
