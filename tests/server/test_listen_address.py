"""Where the server listens."""

from __future__ import annotations

import asyncio
import socket

import pytest

from plait.server.serve import bind_listener

pytestmark = pytest.mark.anyio


async def test_the_listener_disables_nagle_s_algorithm() -> None:
    """Otherwise each answer of two parts takes as long as the other side takes to acknowledge the first: 40 ms."""
    at_once: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = writer.get_extra_info("socket")
        at_once.set_result(line.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    listener = bind_listener("127.0.0.1", 0)
    async with await asyncio.start_server(answer, sock=listener):
        _, writer = await asyncio.open_connection(*listener.getsockname()[:2])
        assert await asyncio.wait_for(at_once, 10)
        writer.close()
        await writer.wait_closed()
