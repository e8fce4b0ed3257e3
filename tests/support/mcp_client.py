"""A host of the Model Context Protocol, with the official client: what an agent's program does with `plait mcp`."""

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

from tests.support.temp_project import TempProject

ToolJson = dict[str, Any]  # JSON, as a program meets it

MCP_TIMEOUT_SECONDS = 60.0


class McpClient:
    """`told` is what a tool answers, by its schema; `refused` what it says instead."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def list_tool_names(self) -> list[str]:
        return [tool.name for tool in (await self.client.list_tools()).tools]

    async def call(self, name: str, **words: object) -> ToolJson:
        answer = await self.client.call_tool(name, words)
        assert not answer.is_error, answer.content
        assert isinstance(answer.structured_content, dict)
        return answer.structured_content

    async def call_refused(self, name: str, **words: object) -> str:
        answer = await self.client.call_tool(name, words)
        assert answer.is_error, answer.structured_content
        (said,) = answer.content
        assert isinstance(said, TextContent)
        return said.text


@asynccontextmanager
async def start_mcp(
    project: TempProject, *words: str, env: Mapping[str, str] | None = None, at: Path | None = None
) -> AsyncIterator[McpClient]:
    """`plait mcp` as a process of its own, in the project or `at` another folder."""
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "plait", "mcp", *words],
        env={**project.env, **(env or {})},
        cwd=at or project.top,
    )
    async with asyncio.timeout(MCP_TIMEOUT_SECONDS), Client(server) as client:
        yield McpClient(client)


@asynccontextmanager
async def connect_http(url: str, key: str) -> AsyncIterator[McpClient]:
    """A server's `/mcp`, with this token."""
    headers = {"Authorization": f"Bearer {key}"}
    async with (
        asyncio.timeout(MCP_TIMEOUT_SECONDS),
        httpx2.AsyncClient(headers=headers, timeout=MCP_TIMEOUT_SECONDS, trust_env=False) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        yield McpClient(client)
