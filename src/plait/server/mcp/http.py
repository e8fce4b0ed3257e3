"""The same tools at `/mcp` of the server, behind its guard: who calls is known by then, and how far they reach."""

from __future__ import annotations

import asyncio
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from plait.server.offices import Offices
from plait.server.visits import current

if TYPE_CHECKING:  # an extra, and imported by the first who comes
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from plait.server.mcp.reach import Reach
    from plait.server.mcp.serving import Context
    from plait.server.mcp.tool import Call, Tool

PATH = "/mcp"
_SDK = ("mcp.server.streamable_http_manager", "plait.server.mcp.serving")


def add_mcp(app: FastAPI, offices: Offices) -> None:
    """Before anything that answers whatever address is asked for. Without the extra, there is nothing at this one.

    Nobody is told anything unasked, and no session is kept, so that there is nothing to listen to (GET) or to end (DELETE).
    """
    if find_spec("mcp") is not None:
        app.router.routes.append(Route(PATH, endpoint=OverHttp(offices), methods=["POST"]))


class OverHttp:
    """Every request stands for itself: nothing is kept of a caller, so a restart costs nobody anything."""

    def __init__(self, offices: Offices) -> None:
        self._offices = offices
        self._manager: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        manager = await self._started()
        await manager.handle_request(scope, receive, send)

    async def _started(self) -> StreamableHTTPSessionManager:
        if self._manager is None:
            self._manager = asyncio.get_running_loop().create_future()
            self._running = asyncio.create_task(self._run(self._manager))
        return await asyncio.shield(self._manager)

    async def _run(self, ready: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        """To the end of the loop, in a task of its own: requests come and go."""
        try:
            manager = await self._made()
        except Exception as error:  # noqa: BLE001 - whoever waits for it is told, and whoever comes next tries again
            self._manager = None
            ready.set_exception(error)
            return
        async with manager.run():
            ready.set_result(manager)
            await asyncio.Event().wait()

    async def _made(self) -> StreamableHTTPSessionManager:
        for name in _SDK:  # a second of work, and others wait for the loop
            await asyncio.to_thread(import_module, name)
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager  # noqa: PLC0415

        from plait.server.mcp.serving import serving  # noqa: PLC0415

        # Which names the server goes by is checked by the guard, for all routes alike.
        return StreamableHTTPSessionManager(serving(self._call, _reach), stateless=True)

    async def _call(self, context: Context, tool: Tool) -> Call:
        """`?project=` as on the other routes."""
        from plait.server.mcp.tool import Call  # noqa: PLC0415

        assert context.request is not None
        project = context.request.query_params.get("project")
        fresh = tool.fresh and not _reach(context).held  # whoever may only read does not fetch
        office = await (self._offices.fresh(project) if fresh else self._offices.office(project))
        visit = current.get()
        assert visit is not None
        return Call(office, context.session.report_progress, visit.over)


def _reach(context: Context) -> Reach:
    from plait.server.keys import Access, Caller  # noqa: PLC0415
    from plait.server.mcp.reach import EVERYTHING, READ_TOKEN  # noqa: PLC0415

    assert context.request is not None
    caller: Caller | None = context.request.scope.get("state", {}).get("caller")
    return EVERYTHING if caller is not None and caller.access is not Access.READ else READ_TOKEN
