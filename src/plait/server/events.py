"""Live events: one stream per reader, from any mark on, without a gap or a repeat. Who reads slowly is waited for."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from plait.core.errors import PlaitError
from plait.front.instant import iso
from plait.server.mark import Mark
from plait.server.office import Office
from plait.server.replay import Replay
from plait.server.story import Piece

RETRY = 1000  # milliseconds until a client that was cut off comes back
BEAT = b":\n\n"
TYPE = "text/event-stream"
AGAIN = 1.0  # seconds until a journal that could not be replayed is tried again


class Stream:
    """`heard` is how far the reader has heard; None: it wants what happens from now on. `batch`: and nothing of others."""

    def __init__(
        self, office: Office, heard: Mark | None, *, batch: str | None = None, logs: bool = True
    ) -> None:
        self._office, self._batch, self._logs = office, batch, logs
        self._heard = heard or office.story.mark
        self._told = self._heard  # the last mark that the reader was given
        self._beat = office.beats
        self._came = office.story.end  # what was said beside the journal before that is not for this reader

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        self._office.readers += 1
        self._office.listeners += self._logs
        try:
            yield f"retry: {RETRY}\n\n".encode() + self._id()
            while True:
                if (reset := await self._reset()) is not None:
                    yield reset
                place = self._office.story.place(self._heard)
                async with aclosing(self._replayed() if place is None else self._live(place)) as told:
                    async for data in told:
                        yield data
        finally:
            self._office.readers -= 1
            self._office.listeners -= self._logs

    def _id(self) -> bytes:
        """An event without data: it only says how far one has heard."""
        return f"id: {self._heard}\n\n".encode()

    async def _reset(self) -> bytes | None:
        """What to say to somebody who comes from another journal: everything they know is void."""
        if self._heard.journal == self._office.story.journal and self._heard.seq > self._office.story.seq:
            await self._office.look(lambda _: None)  # it may have heard more than this server has read
        story, heard = self._office.story, self._heard
        if heard.journal == story.journal and heard.seq <= story.seq:
            return None
        if not heard.journal:  # there was none before: it begins
            self._heard = Mark(story.journal, 0)
            return None
        self._heard = self._told = story.mark
        self._came = story.end
        about = dict.fromkeys(("batchId", "taskId", "attempt"))
        told = {"seq": story.seq, "at": iso(time.time()), "type": "reset", **about}
        return f"id: {self._heard}\nevent: reset\ndata: {json.dumps(told)}\n\n".encode()

    async def _live(self, place: int) -> AsyncGenerator[bytes]:
        """Until it is too far behind, or the journal is another one."""
        story = self._office.story
        while story is self._office.story:
            read = story.read(place)
            if read is None:
                return
            if not read:
                self._heard = story.mark
                if (beat := self._sign_of_life()) is not None:
                    yield beat  # something may have happened meanwhile
                else:
                    await self._office.news()
                continue
            data = self._chosen(place, read)
            place += len(read)
            last = read[-1]
            self._heard = Mark(story.journal, last.seq, last.part)
            if data:
                self._told = self._heard
                yield data

    def _chosen(self, place: int, read: Sequence[Piece]) -> bytes:
        if self._batch is None and self._logs and place >= self._came:
            return self._office.story.joined(place, read)
        return b"".join(piece.data for number, piece in enumerate(read, place) if self._wants(piece, number))

    def _wants(self, piece: Piece, number: int) -> bool:
        if piece.beside and not (self._logs and number >= self._came):
            return False
        return self._batch is None or piece.batch is None or piece.batch == self._batch

    def _sign_of_life(self) -> bytes | None:
        """With a mark, where much has happened that the reader did not want to hear."""
        if self._beat == self._office.beats:
            return None
        self._beat = self._office.beats
        if self._told == self._heard:
            return BEAT
        self._told = self._heard
        return BEAT + self._id()

    async def _replayed(self) -> AsyncGenerator[bytes]:
        """Until it has all that is durable, or loses its turn."""
        before = self._heard
        with suppress(PlaitError):  # then it is tried again
            async with Replay(self._office.replays, self._office.place, before) as replay:
                while (portion := await replay.next()) is not None:
                    told, self._heard = portion
                    data = b"".join(piece.data for piece in told if self._wants(piece, 0))
                    if data:
                        self._told = self._heard
                        yield data
        if self._heard == before:  # it can't be read now, or it is being replaced
            await self._office.pause(AGAIN)


class Listening(StreamingResponse):
    """As soon as the reader has gone, nothing is kept for it."""

    media_type = TYPE

    def __init__(self, stream: Stream) -> None:
        self._events = aiter(stream)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(self._events, headers=headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._events.aclose()
