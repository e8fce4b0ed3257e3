"""Waiting for a batch, so that nobody has to ask again and again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Literal, TypeVar

from plait.server.mcp.params import WaitParams
from plait.server.mcp.results import WaitResult
from plait.server.mcp.snapshot import (
    BatchSummary,
    build_task_results,
    describe_batch,
    read_batch_snapshot,
    read_batch_summary,
)
from plait.server.mcp.tool import ToolCall

T = TypeVar("T")
WaitOutcome = Literal["ended", "person", "changed"]

MIN_WAIT_POLL_SECONDS = 0.2  # seconds between two looks, however much happens
POLL_COST_FACTOR = 4  # times as long as a look took, until the next one: the desk has others to answer
MAX_WAIT_POLL_SECONDS = 5.0  # the longest between two looks, though nobody says that anything happened
MAX_CHANGED_TASKS = 50  # tasks that are told


async def wait(call: ToolCall, params: WaitParams) -> WaitResult:
    """Returns when it is so, or when the time is over. Raises UnknownError, or what keeps engines from staying."""
    first = await read_batch_snapshot(call.session, params.batch)
    batch, fingerprint, settled = first.summary.batch, params.mark or first.fingerprint, first.summary.settled

    async def look() -> WaitOutcome | None:
        nonlocal settled
        if params.until == "change":
            seen = await read_batch_snapshot(call.session, batch)
            now, moved = seen.summary, seen.fingerprint != fingerprint
        else:
            now, moved = await read_batch_summary(call.session, batch), False
        if now.settled > settled:  # the protocol's progress only grows
            settled = now.settled
            await _report_progress(call, now)
        return "changed" if moved else _choose_outcome(now, params)

    why = await poll_until(call, look, lambda found: found is not None, params.seconds)
    last, batch_told, tasks = await describe_batch(call.session, batch)
    moved = set(last.changed_since(first))
    changed = [task for task in tasks if task["taskId"] in moved][:MAX_CHANGED_TASKS]
    return WaitResult(why=why or "time", batch=batch_told, changed=build_task_results(changed))


async def poll_until(
    call: ToolCall, look: Callable[[], Awaitable[T]], holds: Callable[[T], bool], seconds: float
) -> T:
    """What was seen last: what it holds of, or else what was so when the time was over, or the server about to end."""
    deadline = time.monotonic() + seconds
    while True:
        began = time.monotonic()
        seen = await look()
        took, left = time.monotonic() - began, deadline - time.monotonic()
        if holds(seen) or left <= 0 or call.closing.is_set():
            return seen
        await _wait_for_change(call, min(left, MAX_WAIT_POLL_SECONDS))
        await asyncio.sleep(
            min(left, MAX_WAIT_POLL_SECONDS, max(MIN_WAIT_POLL_SECONDS, POLL_COST_FACTOR * took))
        )


def _choose_outcome(summary: BatchSummary, params: WaitParams) -> WaitOutcome | None:
    if summary.ended:
        return "ended"
    return "person" if summary.needs_person and params.until == "end" else None


async def _wait_for_change(call: ToolCall, seconds: float) -> None:
    if call.session.error is not None:
        raise call.session.error
    either = [asyncio.ensure_future(each) for each in (call.session.wait_for_change(), call.closing.wait())]
    try:
        await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in either:
            each.cancel()


async def _report_progress(call: ToolCall, summary: BatchSummary) -> None:
    message = f"{summary.settled} of {summary.total} tasks ended, {summary.working} at work"
    await call.progress(summary.settled, summary.total, message)
