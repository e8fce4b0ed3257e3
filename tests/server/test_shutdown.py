"""Requests that are unanswered when the server shuts down."""

from __future__ import annotations

import asyncio
import logging
from socket import socket

import httpx
import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from plait.server.http.middleware.shutdown import ShutdownMiddleware
from plait.server.serve import is_unexpected


class StoppingServer(uvicorn.Server):
    """Shuts down as soon as it has a request, before it is answered."""

    def __init__(self) -> None:
        config = uvicorn.Config(ShutdownMiddleware(self.wait_forever), port=0, log_config=None, lifespan="off")
        config.timeout_graceful_shutdown = 1
        super().__init__(config)
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    async def wait_forever(self, _scope: Scope, _receive: Receive, _send: Send) -> None:
        self.should_exit = True
        await asyncio.Event().wait()

    async def request(self) -> httpx.Response:
        serving = asyncio.create_task(self._serve())
        await self.ready.wait()
        port = self.servers[0].sockets[0].getsockname()[1]
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            answer = await client.get(f"http://127.0.0.1:{port}")
        await serving
        return answer


async def request() -> httpx.Response:
    return await StoppingServer().request()


def test_an_unanswered_request_gets_an_error_at_shutdown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.handler.addFilter(is_unexpected)
    answer = asyncio.run(request())
    assert answer.status_code == 503
    assert answer.json()["error"] == "the server shut down before it answered"
    assert [each for each in caplog.records if each.levelno >= logging.ERROR] == []
