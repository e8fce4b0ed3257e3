"""MCP at `/mcp` of the HTTP server, behind its authentication."""

from __future__ import annotations

import asyncio
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from plait.server.http.middleware.authentication import MCP_PATH
from plait.server.session_pool import SessionPool, current_scope

if TYPE_CHECKING:  # an extra, imported by the first request
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from plait.server.mcp.server import AccessScope, Context
    from plait.server.mcp.tool import Tool, ToolCall

_SDK_MODULES = ("mcp.server.streamable_http_manager", "plait.server.mcp.server")


def add_mcp(app: FastAPI, sessions: SessionPool) -> None:
    """Add the route if the extra is installed. POST only: there are no sessions and no server-initiated messages."""
    if find_spec("mcp") is not None:
        app.router.routes.append(Route(MCP_PATH, endpoint=McpEndpoint(sessions), methods=["POST"]))


class McpEndpoint:
    """The MCP endpoint. It is stateless: a restart loses nothing."""

    def __init__(self, sessions: SessionPool) -> None:
        self._sessions = sessions
        self._manager: asyncio.Future[StreamableHTTPSessionManager] | None = None
        self._running: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        manager = await self._get_manager()
        await manager.handle_request(scope, receive, send)

    async def _get_manager(self) -> StreamableHTTPSessionManager:
        if self._manager is None:
            self._manager = asyncio.get_running_loop().create_future()
            self._running = asyncio.create_task(self._run(self._manager))
        return await asyncio.shield(self._manager)

    async def _run(self, ready: asyncio.Future[StreamableHTTPSessionManager]) -> None:
        """Run the manager in its own task, since its task group must not end with a request."""
        try:
            manager = await self._create_manager()
        except Exception as error:  # noqa: BLE001 - passed to the waiting requests; the next one tries again
            self._manager = None
            ready.set_exception(error)
            return
        async with manager.run():
            ready.set_result(manager)
            await asyncio.Event().wait()

    async def _create_manager(self) -> StreamableHTTPSessionManager:
        for name in _SDK_MODULES:  # takes a second, and must not block the loop
            await asyncio.to_thread(import_module, name)
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        from plait.server.mcp.server import create_mcp_server

        # Host names are checked by the middleware.
        return StreamableHTTPSessionManager(create_mcp_server(self._make_call, _caller_scope), stateless=True)

    async def _make_call(self, context: Context, tool: Tool) -> ToolCall:
        """Make the call of a request; `?project=` as for other routes."""
        from plait.server.mcp.tool import ToolCall

        assert context.request is not None
        project = context.request.query_params.get("project")
        fetch = tool.needs_fetch and not _caller_scope(context).denial_reason  # read-only callers don't fetch
        session = await (self._sessions.get_updated(project) if fetch else self._sessions.get(project))
        request_scope = current_scope.get()
        assert request_scope is not None
        return ToolCall(session, context.session.report_progress, request_scope.closing)


def _caller_scope(context: Context) -> AccessScope:
    from plait.server.auth import Access, Caller
    from plait.server.mcp.server import FULL_SCOPE, READ_TOKEN_SCOPE

    assert context.request is not None
    caller: Caller | None = context.request.scope.get("state", {}).get("caller")
    return FULL_SCOPE if caller is not None and caller.access is not Access.READ else READ_TOKEN_SCOPE
