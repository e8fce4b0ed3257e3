"""The tools that read what tasks left: what was printed, and what was changed, no more of it than an agent can use."""

from __future__ import annotations

from functools import partial

import msgspec

from plait.core.task import Step
from plait.front.reading.neutral import neutral
from plait.server.acts.reading import diff as compared, log, prints_objects
from plait.server.mcp.told import DiffTold, LogsTold
from plait.server.mcp.tool import Call
from plait.server.mcp.wanted import LONG, SHORT, DiffWanted, LogsWanted

FILES = 200  # that are listed


async def logs(call: Call, wanted: LogsWanted) -> LogsTold:
    """With an offset a page from there on, else the end: of that, no more than the lines that were asked for."""
    start = -LONG if wanted.offset is None else wanted.offset
    read = partial(
        log,
        call.office,
        wanted.batch,
        wanted.task,
        start=start,
        most=LONG,
        attempt=wanted.attempt,
        step=Step(wanted.step),
    )
    found = await read()
    text = found.text
    if not wanted.raw and await prints_objects(call.office, found.attempt):
        found = await read(events=True)
        text = _spoken(found.text)
    whole = neutral(text)
    kept = whole[-LONG:] if wanted.offset is not None else _end(whole, wanted.lines)
    return LogsTold(
        batch_id=found.attempt.batch,
        task_id=found.attempt.task,
        step=found.attempt.step.value,
        attempt=found.attempt.n,
        text=kept,
        next=found.next,
        ended=found.ended,
        note=_note(left_out=found.offset > max(start, 0) or len(kept) < len(whole)),
    )


async def diff(call: Call, wanted: DiffWanted) -> DiffTold:
    found = await compared(call.office, wanted.batch, wanted.task)
    text, files = str(found["diff"]), found["files"]
    assert isinstance(files, list)
    end = wanted.offset + wanted.most
    shown = text[wanted.offset : end] if wanted.text else ""
    left = len(text) - end if wanted.text else 0
    return DiffTold.model_validate(
        {
            **found,
            "files": files[:FILES],
            "more": len(files[FILES:]),
            "text": shown,
            "note": f"{left} more characters: offset {end} reads on." if left > 0 else None,
        }
    )


def _spoken(events: str) -> str:
    """A line for each thing that was said or done."""
    return "".join(f"{msgspec.json.decode(line)['entry']['text']}\n" for line in events.splitlines())


def _end(text: str, lines: int) -> str:
    return "".join(text.splitlines(keepends=True)[-lines:])[-SHORT:]


def _note(*, left_out: bool) -> str | None:
    return "What came before is left out; offset 0 reads from the beginning." if left_out else None
