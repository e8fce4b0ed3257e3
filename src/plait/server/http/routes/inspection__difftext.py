"""The text of a difference, sent as it is read: however long it is, no more than a piece is in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from plait.client.diff__comparison import DiffRange
from plait.git.location import RepoLocation
from plait.server.service.inspection import open_comparison

_DIFF_MEDIA_TYPE = "text/plain; charset=utf-8"


class DiffTextResponse(StreamingResponse):
    """What it is read from is there until it is sent, or the reader has gone."""

    def __init__(self, pieces: Iterator[bytes], stack: ExitStack) -> None:
        super().__init__(_iterate_in_thread(pieces), media_type=_DIFF_MEDIA_TYPE)
        self._stack = stack

    @classmethod
    async def start(
        cls, place: RepoLocation, comparison: DiffRange, state: str, from_byte: int
    ) -> DiffTextResponse:
        """From this byte on. Raises StateError or WorldError before anything is sent."""
        stack = ExitStack()

        def begin() -> Iterator[bytes]:
            found = stack.enter_context(open_comparison(place, comparison, state))
            return _skip_bytes(found.read_text(), from_byte)

        try:
            return cls(await asyncio.to_thread(begin), stack)
        except BaseException:
            await asyncio.to_thread(stack.close)
            raise

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await asyncio.shield(asyncio.to_thread(self._stack.close))


async def _iterate_in_thread(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    while piece := await asyncio.to_thread(next, pieces, b""):
        yield piece


def _skip_bytes(pieces: Iterator[bytes], count: int) -> Iterator[bytes]:
    for piece in pieces:
        if len(piece) > count:
            yield piece[count:]
        count = max(0, count - len(piece))
