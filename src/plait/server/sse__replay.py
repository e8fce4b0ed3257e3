"""Replay: events from the journal itself, for those who are further behind than the story reaches."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from threading import Event
from types import TracebackType
from typing import Self

from plait.client.event_stream import EventStream
from plait.git.location import RepoLocation
from plait.server.event_buffer import SSE_CHUNK_BYTES, BufferedEvent, encode_events
from plait.server.event_buffer__mark import EventCursor
from plait.store import project_files
from plait.store.interfaces import JournalMissingError

REPLAY_IDLE_SECONDS = 5.0  # seconds that a portion may lie before whoever waits for a turn gets this one

# What is told next, and the mark of who has heard it.
ReplayChunk = tuple[list[BufferedEvent], EventCursor]


def replay_events(
    place: RepoLocation, cursor: EventCursor, is_stopped: Callable[[], bool] = lambda: False
) -> Generator[ReplayChunk, None, None]:
    """All that is durable now after this mark, in bounded portions. `over`: nobody wants to hear it any more.

    It is told from the journal's beginning, as it was told before, so that the same records give the same events. Nothing
    comes of a journal that is not the mark's.
    """
    try:
        reader = project_files.open_project_journal(place)
    except JournalMissingError:
        return
    with closing(reader):
        if reader.id != cursor.journal:
            return
        feed, ready, size, reached = EventStream(), list[BufferedEvent](), 0, cursor
        for record in reader.read():
            if is_stopped():
                return
            events = feed.apply(record)
            if record.seq < cursor.seq:
                continue
            reached = EventCursor(reader.id, record.seq)
            fresh = [
                piece for piece in encode_events(reader.id, record.seq, events) if _is_after(piece, cursor)
            ]
            ready += fresh
            size += sum(len(piece.data) for piece in fresh)
            if size >= SSE_CHUNK_BYTES:
                yield ready, reached
                ready, size = [], 0
        yield ready, reached


def _is_after(event: BufferedEvent, cursor: EventCursor) -> bool:
    return event.sort_key > BufferedEvent(cursor.seq, cursor.part, None, b"").sort_key


class ReplayReader:
    """One reader's, in a thread of its own: a journal is read by the thread that opened it. There are few turns, and this has
    one until its thread is done. Who leaves a portion lying loses its turn, and begins anew from its mark.
    """

    def __init__(self, slots: asyncio.Semaphore, place: RepoLocation, cursor: EventCursor) -> None:
        self._slots, self._stopped = slots, Event()
        self._chunks = replay_events(place, cursor, self._stopped.is_set)
        self._thread = ThreadPoolExecutor(1, "replay")
        self._loop = asyncio.get_running_loop()
        self._idle_timer: asyncio.TimerHandle | None = None

    async def __aenter__(self) -> Self:
        await self._slots.acquire()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    async def read_chunk(self) -> ReplayChunk | None:
        """None: that was all, or the turn is lost. Raises PlaitError where the journal can't be read."""
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        if self._stopped.is_set():
            return None
        chunk = await self._loop.run_in_executor(self._thread, next, self._chunks, None)
        self._idle_timer = self._loop.call_later(REPLAY_IDLE_SECONDS, self._stop)
        return chunk

    def _stop(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        if not self._stopped.is_set():
            self._stopped.set()
            self._thread.submit(self._chunks.close).add_done_callback(self._release_slot)
            self._thread.shutdown(wait=False)

    def _release_slot(self, _: Future[None]) -> None:
        with suppress(RuntimeError):  # the loop has ended before
            self._loop.call_soon_threadsafe(self._slots.release)
