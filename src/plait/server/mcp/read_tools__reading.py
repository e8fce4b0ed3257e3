"""The tools that read what tasks left: what was printed, and what was changed, no more of it than an agent can use."""

from __future__ import annotations

from functools import partial

import msgspec

from plait.client.logs.attempt_output__neutral import strip_ansi
from plait.core.task import Step
from plait.server.mcp.params import DEFAULT_OUTPUT_LENGTH, MAX_OUTPUT_LENGTH, DiffParams, LogsParams
from plait.server.mcp.results import DiffResult, LogsResult
from plait.server.mcp.tool import ToolCall
from plait.server.service.inspection import prints_json_events, read_diff as compared, read_log

MAX_DIFF_FILES = 200  # that are listed


async def logs(call: ToolCall, params: LogsParams) -> LogsResult:
    """With an offset a page from there on, else the end: of that, no more than the lines that were asked for."""
    start = -MAX_OUTPUT_LENGTH if params.offset is None else params.offset
    read = partial(
        read_log,
        call.session,
        params.batch,
        params.task,
        start=start,
        most=MAX_OUTPUT_LENGTH,
        attempt=params.attempt,
        step=Step(params.step),
    )
    found = await read()
    text = found.text
    if not params.raw and await prints_json_events(call.session, found.attempt):
        found = await read(events=True)
        text = _event_texts(found.text)
    whole = strip_ansi(text)
    kept = whole[-MAX_OUTPUT_LENGTH:] if params.offset is not None else _tail(whole, params.lines)
    return LogsResult(
        batch_id=found.attempt.batch,
        task_id=found.attempt.task,
        step=found.attempt.step.value,
        attempt=found.attempt.n,
        text=kept,
        next=found.next,
        ended=found.ended,
        note=_truncation_note(left_out=found.offset > max(start, 0) or len(kept) < len(whole)),
    )


async def diff(call: ToolCall, params: DiffParams) -> DiffResult:
    found = await compared(call.session, params.batch, params.task)
    text, files = str(found["diff"]), found["files"]
    assert isinstance(files, list)
    end = params.offset + params.most
    shown = text[params.offset : end] if params.text else ""
    left = len(text) - end if params.text else 0
    return DiffResult.model_validate(
        {
            **found,
            "files": files[:MAX_DIFF_FILES],
            "more": len(files[MAX_DIFF_FILES:]),
            "text": shown,
            "note": f"{left} more characters: offset {end} reads on." if left > 0 else None,
        }
    )


def _event_texts(events: str) -> str:
    """A line for each thing that was said or done."""
    return "".join(f"{msgspec.json.decode(line)['entry']['text']}\n" for line in events.splitlines())


def _tail(text: str, lines: int) -> str:
    return "".join(text.splitlines(keepends=True)[-lines:])[-DEFAULT_OUTPUT_LENGTH:]


def _truncation_note(*, left_out: bool) -> str | None:
    return "What came before is left out; offset 0 reads from the beginning." if left_out else None
