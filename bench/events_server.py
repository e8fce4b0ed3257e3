"""The floor for `bench.events`: the bare minimum that starlette makes of a stream of events that are there already.

python -m bench.events_server FOLDER prints the port it listens on.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

TOLD, GO = "told.json", "go"


def main(folder: str) -> None:
    bound = socket.create_server(("127.0.0.1", 0), backlog=1024)
    print(bound.getsockname()[1], flush=True)
    config = uvicorn.Config(_floor(Path(folder)), log_level="warning", lifespan="off", loop="asyncio", http="h11")
    uvicorn.Server(config).run(sockets=[bound])


def _floor(folder: Path) -> Starlette:
    """The same events, made before: each is sent on its own, from the word go."""
    told = msgspec.json.decode((folder / TOLD).read_bytes(), type=list[str])
    ready = [event.encode() for event in told]
    go = asyncio.Event()

    async def events(request: Request) -> StreamingResponse:
        if not waiting:
            waiting.append(asyncio.create_task(_await_word(folder, go)))
        stream = _bare([] if "batch" in request.query_params else ready, go)
        return StreamingResponse(stream, media_type="text/event-stream")

    waiting: list[asyncio.Task[None]] = []
    return Starlette(routes=[Route("/api/events", events)])


async def _await_word(folder: Path, go: asyncio.Event) -> None:
    while not (folder / GO).exists():  # noqa: ASYNC110 - the bench is another process
        await asyncio.sleep(0.01)
    go.set()


async def _bare(events: list[bytes], go: asyncio.Event) -> AsyncIterator[bytes]:
    yield b"retry: 1000\n\n"
    await go.wait()
    for event in events:
        yield event
    await asyncio.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
