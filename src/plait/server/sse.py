"""Event streams: live from the buffer, and from the journal for readers that are further behind."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import aclosing, closing, suppress
from threading import Event
from types import TracebackType
from typing import Self

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from plait.client.event_stream import EventStream
from plait.client.json_encoding import to_iso
from plait.core.errors import PlaitError
from plait.git.location import RepoLocation
from plait.server.event_buffer import SSE_CHUNK_BYTES, BufferedEvent, EventCursor, encode_events, encode_transient
from plait.server.project_session import ProjectSession
from plait.store import project_files
from plait.store.interfaces import JournalMissingError

RETRY_MILLISECONDS = 1000  # until a disconnected client reconnects
HEARTBEAT_COMMENT = b":\n\n"
SSE_MEDIA_TYPE = "text/event-stream"
REPLAY_IDLE_SECONDS = 5.0  # a reader that leaves a chunk this long loses its slot
REPLAY_RETRY_SECONDS = 1.0  # until a failed replay is tried again

# The next events, and the cursor after them.
ReplayChunk = tuple[list[BufferedEvent], EventCursor]


def replay_events(
    location: RepoLocation, cursor: EventCursor, is_stopped: Callable[[], bool] = lambda: False
) -> Generator[ReplayChunk, None, None]:
    """Yield the events after this cursor that are in the journal now, in chunks; nothing if it is another journal.

    Reading starts at the journal's beginning, so that the same records give the same events.
    """
    try:
        reader = project_files.open_project_journal(location)
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
            fresh = [event for event in encode_events(reader.id, record.seq, events) if _is_after(event, cursor)]
            ready += fresh
            size += sum(len(event.data) for event in fresh)
            if size >= SSE_CHUNK_BYTES:
                yield ready, reached
                ready, size = [], 0
        yield ready, reached


def _is_after(event: BufferedEvent, cursor: EventCursor) -> bool:
    return event.sort_key > BufferedEvent(cursor.seq, cursor.part, None, b"").sort_key


class ReplayReader:
    """One reader's replay, in its own thread: a journal is read by the thread that opened it. Slots are few; a reader
    that doesn't take a chunk in time loses its slot, and starts over from its cursor.
    """

    def __init__(self, slots: asyncio.Semaphore, location: RepoLocation, cursor: EventCursor) -> None:
        self._slots, self._stopped = slots, Event()
        self._chunks = replay_events(location, cursor, self._stopped.is_set)
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
        """Return a chunk; None at the end, or without a slot. Raises PlaitError for an unreadable journal."""
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


class SseStream:
    """Streams the events after the cursor (None: from now on), without a gap or a repeat. `batch`: only this one's."""

    def __init__(
        self,
        session: ProjectSession,
        cursor: EventCursor | None,
        *,
        batch: str | None = None,
        logs: bool = True,
    ) -> None:
        self._session, self._batch, self._logs = session, batch, logs
        self._cursor = cursor or session.buffer.cursor
        self._sent_cursor = self._cursor  # the last one that the reader received
        self._heartbeats_seen = session.heartbeats
        self._first_log_position = session.buffer.end_position  # earlier agent output is not for this reader

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        self._session.readers += 1
        self._session.log_readers += self._logs
        try:
            yield f"retry: {RETRY_MILLISECONDS}\n\n".encode() + self._cursor_event()
            if self._logs and (output := await self._read_last_output()):
                yield output
            while True:
                if (reset := await self._check_reset()) is not None:
                    yield reset
                position = self._session.buffer.find_position(self._cursor)
                async with aclosing(
                    self._stream_replay() if position is None else self._stream_live(position)
                ) as chunks:
                    async for data in chunks:
                        yield data
        finally:
            self._session.readers -= 1
            self._session.log_readers -= self._logs

    async def _read_last_output(self) -> bytes:
        """Return the agents' last activities, because a new reader would otherwise see only later ones."""
        events = await self._session.list_last_output()
        return b"".join(encode_transient(event) for event in events if self._batch in {None, event.batch})

    def _cursor_event(self) -> bytes:
        """Return an event without data, which only sets the reader's `Last-Event-ID`."""
        return f"id: {self._cursor}\n\n".encode()

    async def _check_reset(self) -> bytes | None:
        """Return the event for a reader of another journal, who has to load everything again; else None."""
        if self._cursor.journal == self._session.buffer.journal and self._cursor.seq > self._session.buffer.seq:
            await self._session.query(lambda _: None)  # the reader may be ahead of this server
        buffer, cursor = self._session.buffer, self._cursor
        if cursor.journal == buffer.journal and cursor.seq <= buffer.seq:
            return None
        if not cursor.journal:  # there was no journal before
            self._cursor = EventCursor(buffer.journal, 0)
            return None
        self._cursor = self._sent_cursor = buffer.cursor
        self._first_log_position = buffer.end_position
        about = dict.fromkeys(("batchId", "taskId", "attempt"))
        data = {"seq": buffer.seq, "at": to_iso(time.time()), "type": "reset", **about}
        return f"id: {self._cursor}\nevent: reset\ndata: {json.dumps(data)}\n\n".encode()

    async def _stream_live(self, position: int) -> AsyncGenerator[bytes]:
        """Stream until the reader is too far behind, or the journal is replaced."""
        buffer = self._session.buffer
        while buffer is self._session.buffer:
            events = buffer.read(position)
            if events is None:
                return
            if not events:
                self._cursor = buffer.cursor
                if (heartbeat := self._take_heartbeat()) is not None:
                    yield heartbeat
                else:
                    await self._session.wait_for_change()
                continue
            data = self._select_data(position, events)
            position += len(events)
            last = events[-1]
            self._cursor = EventCursor(buffer.journal, last.seq, last.part)
            if data:
                self._sent_cursor = self._cursor
                yield data

    def _select_data(self, position: int, events: Sequence[BufferedEvent]) -> bytes:
        if self._batch is None and self._logs and position >= self._first_log_position:
            return self._session.buffer.join(position, events)
        return b"".join(event.data for number, event in enumerate(events, position) if self._wants(event, number))

    def _wants(self, event: BufferedEvent, position: int) -> bool:
        if event.transient and not (self._logs and position >= self._first_log_position):
            return False
        return self._batch is None or event.batch is None or event.batch == self._batch

    def _take_heartbeat(self) -> bytes | None:
        """Return a due heartbeat, with a cursor if events were filtered out since the last one."""
        if self._heartbeats_seen == self._session.heartbeats:
            return None
        self._heartbeats_seen = self._session.heartbeats
        if self._sent_cursor == self._cursor:
            return HEARTBEAT_COMMENT
        self._sent_cursor = self._cursor
        return HEARTBEAT_COMMENT + self._cursor_event()

    async def _stream_replay(self) -> AsyncGenerator[bytes]:
        """Stream until the end of the journal, or until the slot is lost."""
        before = self._cursor
        with suppress(PlaitError):  # tried again below
            async with ReplayReader(self._session.replay_slots, self._session.location, before) as replay:
                while (chunk := await replay.read_chunk()) is not None:
                    events, self._cursor = chunk
                    data = b"".join(event.data for event in events if self._wants(event, 0))
                    if data:
                        self._sent_cursor = self._cursor
                        yield data
        if self._cursor == before:  # unreadable, or being replaced
            await self._session.sleep_until_change(REPLAY_RETRY_SECONDS)


class SseResponse(StreamingResponse):
    """Releases the stream as soon as the reader disconnects."""

    media_type = SSE_MEDIA_TYPE

    def __init__(self, stream: SseStream) -> None:
        self._events = aiter(stream)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(self._events, headers=headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._events.aclose()
