"""The server on standard input and output, for the host that started this process. It ends when its input does."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from anyio import BrokenResourceError, ClosedResourceError
from mcp.server import Server
from mcp.server.stdio import stdio_server

from plait.git.location import RepoLocation
from plait.git.location__projects import compute_project_id
from plait.server.mcp.server import Context, create_mcp_server
from plait.server.mcp.server__reach import FULL_SCOPE, AccessScope
from plait.server.mcp.tool import Tool, ToolCall
from plait.server.project_session import ProjectSession


def serve_stdio(place: RepoLocation, scope: AccessScope) -> None:
    """Batches go on when it ends. Raises PlaitError where the journal can't be read."""
    note = (
        "" if scope == FULL_SCOPE else f"Only tools that change nothing are offered: {scope.denial_reason}."
    )
    if note:
        print(f"plait mcp: {note}", file=sys.stderr)  # noqa: T201 - the output belongs to the protocol
    asyncio.run(_serve_session(place, scope, note))


async def _serve_session(place: RepoLocation, scope: AccessScope, note: str) -> None:
    session = ProjectSession(compute_project_id(place), place, start_engine=scope == FULL_SCOPE)
    await session.open()

    async def make_call(context: Context, _: Tool) -> ToolCall:
        return ToolCall(session, context.session.report_progress, closing=asyncio.Event())

    try:
        await _run_stdio(create_mcp_server(make_call, lambda _: scope, note=note))
    finally:
        await session.close()


async def _run_stdio(server: Server[Any]) -> None:
    """The SDK keeps the output to itself: what anybody else prints meanwhile goes to the standard error."""
    try:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())
    except* (BrokenPipeError, BrokenResourceError, ClosedResourceError):  # the host is gone
        pass
