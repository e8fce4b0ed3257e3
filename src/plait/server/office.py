"""An office: one project's desk, kept by a thread of its own, and what happens there told to everybody who listens.

The thread folds what is new and answers questions about it, one after another; the loop never waits for it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from plait.agents.model import AgentSpec
from plait.core.errors import Bug, PlaitError, in_words
from plait.core.plan import Plan, Problem
from plait.core.requests import Request
from plait.front.asking import Answer
from plait.front.chronicle import Chronicle
from plait.front.desk import Desk
from plait.front.event import Event
from plait.front.planning.outlook import Outlook
from plait.front.tally import Tally
from plait.server.clerk import Clerk
from plait.server.handing import asked, submitted
from plait.server.story import Piece, Story
from plait.wiring import Place
from plait.wiring.sources import Kept

T = TypeVar("T")

# Seconds between two looks at the journal: while it moves; the longest while an engine is at work or somebody waits for an
# answer; while nobody writes; while nobody would hear of it.
MOVING, WORKING, CALM, ALONE = 0.002, 0.05, 0.25, 1.0
HEARTBEAT = 15.0  # between two signs of life to those who hear nothing
AGAIN = 5.0  # until a journal that can't be read is tried again


class Office:
    """Used from one loop. `readers` is how many hear its events, `listeners` how many of them want what agents say; `beats`
    counts signs of life.
    """

    def __init__(self, name: str, place: Place, *, tends: bool = True) -> None:
        """`tends`: where there is work and nobody does it, an engine is started."""
        self.id, self.place = name, place
        self.story = Story("")
        self.kept = Kept()  # what was read of its sources
        self.readers = self.listeners = self.beats = 0
        self.replays = asyncio.Semaphore(2)  # each folds a whole journal
        self.turn = asyncio.Lock()  # of those who open batches: one of them waits for other processes
        self._loop = loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, f"office-{name}")
        self._clerk = Clerk(
            place,
            lambda *told: loop.call_soon_threadsafe(self._publish, *told),
            lambda said: loop.call_soon_threadsafe(self._say, said),
            tends=tends,
        )
        self._unread: PlaitError | None = None
        self._news, self._call = asyncio.Event(), asyncio.Event()
        self._waiting = 0
        self._work: set[asyncio.Task[Any]] = set()  # Any: whatever they come to
        self._following: asyncio.Task[None] | None = None

    @property
    def trouble(self) -> PlaitError | None:
        """What keeps the journal from being read, or engines from staying."""
        return self._unread or self._clerk.untended

    @property
    def tally(self) -> Tally:
        """In the desk's thread only."""
        return self._clerk.tally

    @property
    def chronicle(self) -> Chronicle:
        """In the desk's thread only."""
        return self._clerk.chronicle

    async def open(self) -> None:
        """Fold what is there, and follow from then on. Raises PlaitError where the journal can't be read."""
        self.story = await self._run(self._clerk.open)
        self._following = asyncio.create_task(self._follow())

    async def close(self) -> None:
        """What was handed in is safe, whoever still waits for an answer."""
        going = [*self._work, *filter(None, (self._following,))]
        for task in going:
            task.cancel()
        await asyncio.gather(*going, return_exceptions=True)
        await self._run(self._clerk.close)
        self._thread.shutdown(wait=False)

    async def move(self, place: Place) -> None:
        """The same project, in another checkout."""
        self.place = place
        await self.look(lambda desk: desk.move(place))

    async def look(self, read: Callable[[Desk], T]) -> T:
        """What `read` finds at the desk, up to date. It runs in the desk's thread, and is quick."""
        return await self._run(partial(self._clerk.look, read))

    async def ask(self, requests: Sequence[Request], *, patience: float | None = None) -> list[Answer]:
        """Durable first, then answered, as far as an engine does so in time. It goes on if nobody waits for it any more."""
        return await self._go_on(asked(self, requests, patience))

    async def submit(
        self, found: Outlook, plan: Plan, agents: Sequence[AgentSpec], name: str = ""
    ) -> tuple[str, list[Problem]]:
        """The new batch's id, once it is in the journal, and what a person should know. `name` is the request's id, if not
        any. Raises PlaitError.
        """
        return await self._go_on(submitted(self, found, plan, agents, name))

    async def news(self) -> None:
        """Returns when there is something new, or when it is time for a sign of life."""
        self._waiting += 1
        self._call.set()
        try:
            await self._news.wait()
        finally:
            self._waiting -= 1

    async def pause(self, seconds: float) -> None:
        """Or until there is something new."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.news(), seconds)

    def stir(self) -> None:
        """Everybody who waits for news goes on."""
        self._news.set()
        self._news.clear()

    def eta(self, batch: str) -> float | None:
        """When it is expected to end. In the desk's thread only."""
        return self._clerk.eta(batch)

    async def _go_on(self, work: Coroutine[None, None, T]) -> T:
        task = asyncio.create_task(work)
        self._work.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._work.discard(task)
        if not task.cancelled():
            task.exception()  # whoever asked may have gone

    async def _run(self, work: Callable[[], T]) -> T:
        return await self._loop.run_in_executor(self._thread, work)

    async def _follow(self) -> None:
        pause, beat = MOVING, time.monotonic()
        while True:
            if time.monotonic() - beat >= HEARTBEAT:
                beat = time.monotonic()
                self.beats += 1
                self.stir()
            try:
                moved = await self._run(partial(self._clerk.glance, overhear=self.listeners > 0))
                self._unread = None
            except Exception as error:  # noqa: BLE001 - whatever it was, there is a next time
                moved = False
                self._stumbled(error)
                await asyncio.sleep(AGAIN)
            pause = MOVING if moved else min(2 * pause, self._longest())
            await self._rest(pause)

    def _longest(self) -> float:
        if not (self.readers or self._waiting or self._work):
            return ALONE
        return WORKING if self._clerk.working or self._work else CALM

    async def _rest(self, seconds: float) -> None:
        """Or until somebody comes who waits for news."""
        self._call.clear()
        if seconds <= WORKING:
            await asyncio.sleep(seconds)
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(self._call.wait(), seconds)

    def _stumbled(self, error: Exception) -> None:
        if isinstance(error, PlaitError):
            self._unread = error
            return
        if self._unread is None or self._unread.message != in_words(error):
            self._loop.call_exception_handler({"message": f"office {self.id}", "exception": error})
        self._unread = Bug(in_words(error))

    def _publish(self, journal: str, fresh: Sequence[Piece], seq: int) -> None:
        replaced = journal != self.story.journal
        if replaced:
            self.story = Story(journal)
        if replaced or fresh or seq != self.story.seq:
            self.story.add(fresh, seq)
            self.stir()

    def _say(self, events: Sequence[Event]) -> None:
        self.story.beside(events)
        self.stir()
