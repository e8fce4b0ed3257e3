"""The server on standard input and output, for the host that started this process. It ends when its input does."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from anyio import BrokenResourceError, ClosedResourceError
from mcp.server import Server
from mcp.server.stdio import stdio_server

from plait.server.mcp.reach import EVERYTHING, Reach
from plait.server.mcp.serving import Context, serving
from plait.server.mcp.tool import Call, Tool
from plait.server.office import Office
from plait.wiring import Place
from plait.wiring.projects import project_id


def serve_stdio(place: Place, reach: Reach) -> None:
    """Batches go on when it ends. Raises PlaitError where the journal can't be read."""
    note = "" if reach == EVERYTHING else f"Only tools that change nothing are offered: {reach.held}."
    if note:
        print(f"plait mcp: {note}", file=sys.stderr)  # noqa: T201 - the output belongs to the protocol
    asyncio.run(_serve(place, reach, note))


async def _serve(place: Place, reach: Reach, note: str) -> None:
    office = Office(project_id(place), place, tends=reach == EVERYTHING)
    await office.open()

    async def here(context: Context, _: Tool) -> Call:
        return Call(office, context.session.report_progress, over=asyncio.Event())

    try:
        await _exchange(serving(here, lambda _: reach, note=note))
    finally:
        await office.close()


async def _exchange(server: Server[Any]) -> None:
    """The SDK keeps the output to itself: what anybody else prints meanwhile goes to the standard error."""
    try:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())
    except* (BrokenPipeError, BrokenResourceError, ClosedResourceError):  # the host is gone
        pass
