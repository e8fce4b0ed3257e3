"""The official MCP client, connected to `plait mcp`, to its tools in this process, or to a server over HTTP."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import TextContent

from plait.server.mcp.server import FULL_SCOPE, open_mcp_server
from tests.support.temp_project import TempProject, use_environment
from tests.support.waiting import TIMEOUT_SECONDS

ToolJson = dict[str, Any]  # Any: tests read any field of a result


class McpClient:
    def __init__(self, client: Client) -> None:
        self.client = client

    async def list_tool_names(self) -> list[str]:
        return [tool.name for tool in (await self.client.list_tools()).tools]

    async def call(self, name: str, **words: object) -> ToolJson:
        """The result of a tool."""
        answer = await self.client.call_tool(name, words)
        assert not answer.is_error, answer.content
        assert isinstance(answer.structured_content, dict)
        return answer.structured_content

    async def wait(self, **words: object) -> ToolJson:
        """The result of `wait`, when it has another reason than its time limit."""
        while (answer := await self.call("wait", **words))["why"] == "time":
            pass
        return answer

    async def call_refused(self, name: str, **words: object) -> str:
        """The error of a tool."""
        answer = await self.client.call_tool(name, words)
        assert answer.is_error, answer.structured_content
        (said,) = answer.content
        assert isinstance(said, TextContent)
        return said.text


@asynccontextmanager
async def start_mcp(
    project: TempProject, *words: str, env: Mapping[str, str] | None = None, at: Path | None = None
) -> AsyncIterator[McpClient]:
    """`plait mcp` as a process, in the project or in the folder `at`."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "plait", "mcp", *words],
        env={**project.env, **(env or {})},
        cwd=at or project.top,
    )
    async with asyncio.timeout(TIMEOUT_SECONDS), Client(server) as client:
        yield McpClient(client)


@asynccontextmanager
async def connect_mcp(project: TempProject) -> AsyncIterator[McpClient]:
    """The tools of `plait mcp`, served by this process."""
    with use_environment(project.env):
        async with (
            asyncio.timeout(TIMEOUT_SECONDS),
            open_mcp_server(project.place, FULL_SCOPE) as server,
            Client(server) as client,
        ):
            yield McpClient(client)


@asynccontextmanager
async def connect_http(url: str, key: str) -> AsyncIterator[McpClient]:
    """`/mcp` of a server, with this token."""
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        asyncio.timeout(TIMEOUT_SECONDS),
        httpx2.AsyncClient(headers=headers, timeout=TIMEOUT_SECONDS, trust_env=False) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield McpClient(client)
