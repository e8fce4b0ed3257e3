"""Replay: events from the journal itself, for those who are further behind than the story reaches."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from threading import Event
from types import TracebackType
from typing import Self

from plait import wiring
from plait.front.feed import Feed
from plait.ports import JournalMissingError
from plait.server.mark import Mark
from plait.server.story import CHUNK, Piece, pieces
from plait.wiring import Place

PATIENCE = 5.0  # seconds that a portion may lie before whoever waits for a turn gets this one

# What is told next, and the mark of who has heard it.
Portion = tuple[list[Piece], Mark]


def replay(
    place: Place, mark: Mark, over: Callable[[], bool] = lambda: False
) -> Generator[Portion, None, None]:
    """All that is durable now after this mark, in bounded portions. `over`: nobody wants to hear it any more.

    It is told from the journal's beginning, as it was told before, so that the same records give the same events. Nothing
    comes of a journal that is not the mark's.
    """
    try:
        reader = wiring.journal_reader(place)
    except JournalMissingError:
        return
    with closing(reader):
        if reader.id != mark.journal:
            return
        feed, ready, size, heard = Feed(), list[Piece](), 0, mark
        for record in reader.read():
            if over():
                return
            events = feed.take(record)
            if record.seq < mark.seq:
                continue
            heard = Mark(reader.id, record.seq)
            fresh = [piece for piece in pieces(reader.id, record.seq, events) if _after(piece, mark)]
            ready += fresh
            size += sum(len(piece.data) for piece in fresh)
            if size >= CHUNK:
                yield ready, heard
                ready, size = [], 0
        yield ready, heard


def _after(piece: Piece, mark: Mark) -> bool:
    return piece.order > Piece(mark.seq, mark.part, None, b"").order


class Replay:
    """One reader's, in a thread of its own: a journal is read by the thread that opened it. There are few turns, and this has
    one until its thread is done. Who leaves a portion lying loses its turn, and begins anew from its mark.
    """

    def __init__(self, turns: asyncio.Semaphore, place: Place, mark: Mark) -> None:
        self._turns, self._over = turns, Event()
        self._portions = replay(place, mark, self._over.is_set)
        self._thread = ThreadPoolExecutor(1, "replay")
        self._loop = asyncio.get_running_loop()
        self._lying: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        await self._turns.acquire()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    async def next(self) -> Portion | None:
        """None: that was all, or the turn is lost. Raises PlaitError where the journal can't be read."""
        if self._lying is not None:
            self._lying.cancel()
        if self._over.is_set():
            return None
        portion = await self._loop.run_in_executor(self._thread, next, self._portions, None)
        self._lying = self._loop.call_later(PATIENCE, self._end)
        return portion

    def _end(self) -> None:
        if self._lying is not None:
            self._lying.cancel()
        if not self._over.is_set():
            self._over.set()
            self._thread.submit(self._portions.close).add_done_callback(self._ended)
            self._thread.shutdown(wait=False)

    def _ended(self, _: Future[None]) -> None:
        with suppress(RuntimeError):  # the loop has ended before
            self._loop.call_soon_threadsafe(self._turns.release)
