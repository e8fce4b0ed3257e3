"""The text of a difference, sent as it is read: however long it is, no more than a piece is in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from plait.front.comparison import Comparison
from plait.server.acts.reading import opened
from plait.wiring import Place

_TYPE = "text/plain; charset=utf-8"


class DiffText(StreamingResponse):
    """What it is read from is there until it is sent, or the reader has gone."""

    def __init__(self, pieces: Iterator[bytes], stack: ExitStack) -> None:
        super().__init__(_read(pieces), media_type=_TYPE)
        self._stack = stack

    @classmethod
    async def of(cls, place: Place, wanted: Comparison, state: str, start: int) -> DiffText:
        """From this byte on. Raises StateError or WorldError before anything is sent."""
        stack = ExitStack()

        def begin() -> Iterator[bytes]:
            found = stack.enter_context(opened(place, wanted, state))
            return _from(found.text(), start)

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


async def _read(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    while piece := await asyncio.to_thread(next, pieces, b""):
        yield piece


def _from(pieces: Iterator[bytes], start: int) -> Iterator[bytes]:
    for piece in pieces:
        if len(piece) > start:
            yield piece[start:]
        start = max(0, start - len(piece))
