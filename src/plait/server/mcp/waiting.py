"""Waiting for a batch, so that nobody has to ask again and again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Literal, TypeVar

from plait.server.mcp.outline import Glance, glance, outline, tasks_told, told
from plait.server.mcp.told import WaitTold
from plait.server.mcp.tool import Call
from plait.server.mcp.wanted import WaitWanted

T = TypeVar("T")
Why = Literal["ended", "person", "changed"]

BREATH = 0.2  # seconds between two looks, however much happens
SHARE = 4  # times as long as a look took, until the next one: the desk has others to answer
GLANCE = 5.0  # the longest between two looks, though nobody says that anything happened
MOST = 50  # tasks that are told


async def wait(call: Call, wanted: WaitWanted) -> WaitTold:
    """Returns when it is so, or when the time is over. Raises UnknownError, or what keeps engines from staying."""
    first = await outline(call.office, wanted.batch)
    batch, known, settled = first.glance.batch, wanted.mark or first.mark, first.glance.settled

    async def look() -> Why | None:
        nonlocal settled
        if wanted.until == "change":
            seen = await outline(call.office, batch)
            now, moved = seen.glance, seen.mark != known
        else:
            now, moved = await glance(call.office, batch), False
        if now.settled > settled:  # the protocol's progress only grows
            settled = now.settled
            await _tell(call, now)
        return "changed" if moved else _why(now, wanted)

    why = await until(call, look, lambda found: found is not None, wanted.seconds)
    last, batch_told, tasks = await told(call.office, batch)
    moved = set(last.moved(first))
    changed = [task for task in tasks if task["taskId"] in moved][:MOST]
    return WaitTold(why=why or "time", batch=batch_told, changed=tasks_told(changed))


async def until(
    call: Call, look: Callable[[], Awaitable[T]], holds: Callable[[T], bool], seconds: float
) -> T:
    """What was seen last: what it holds of, or else what was so when the time was over, or the server about to end."""
    deadline = time.monotonic() + seconds
    while True:
        began = time.monotonic()
        seen = await look()
        took, left = time.monotonic() - began, deadline - time.monotonic()
        if holds(seen) or left <= 0 or call.over.is_set():
            return seen
        await _news(call, min(left, GLANCE))
        await asyncio.sleep(min(left, GLANCE, max(BREATH, SHARE * took)))


def _why(now: Glance, wanted: WaitWanted) -> Why | None:
    if now.ended:
        return "ended"
    return "person" if now.person and wanted.until == "end" else None


async def _news(call: Call, seconds: float) -> None:
    if call.office.trouble is not None:
        raise call.office.trouble
    either = [asyncio.ensure_future(each) for each in (call.office.news(), call.over.wait())]
    try:
        await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in either:
            each.cancel()


async def _tell(call: Call, now: Glance) -> None:
    said = f"{now.settled} of {now.total} tasks ended, {now.working} at work"
    await call.progress(now.settled, now.total, said)
