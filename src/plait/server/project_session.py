"""An office: one project's desk, kept by a thread of its own, and what happens there told to everybody who listens.

The thread folds what is new and answers questions about it, one after another; the loop never waits for it.

Handing in at an office: requests are durable first, then answered, as far as an engine does so in time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from functools import partial
from typing import Any, TypeVar

from plait.agents.interface import AgentSpec
from plait.client.counters import JournalCounters
from plait.client.history import HistoryIndex
from plait.client.planning.plan_preview import PlanPreview
from plait.client.planning.submission import build_submission, check_admission, lock_submission
from plait.client.session import (
    ANSWER_TIMEOUT_SECONDS,
    ENGINE_CHECK_SECONDS,
    SUBMIT_TIMEOUT_SECONDS,
    RequestAnswer,
    Session,
)
from plait.client.source_cache import SourceCache
from plait.client.stream_event import StreamEvent
from plait.core.errors import Bug, PlaitError, describe_error
from plait.core.plan import Plan, Problem
from plait.core.requests import Request
from plait.git.location import RepoLocation
from plait.server.event_buffer import BufferedEvent, EventBuffer
from plait.server.journal_follower import JournalFollower

T = TypeVar("T")


# Seconds between two looks at the journal: while it moves; the longest while an engine is at work or somebody waits for an
# answer; while nobody writes; while nobody would hear of it.
ACTIVE_POLL_SECONDS, BUSY_POLL_SECONDS, IDLE_POLL_SECONDS, UNWATCHED_POLL_SECONDS = 0.002, 0.05, 0.25, 1.0


HEARTBEAT_SECONDS = 15.0  # between two signs of life to those who hear nothing


READ_RETRY_SECONDS = 5.0  # until a journal that can't be read is tried again


class ProjectSession:
    """Used from one loop. `readers` is how many hear its events, `listeners` how many of them want what agents say; `beats`
    counts signs of life.
    """

    def __init__(self, name: str, place: RepoLocation, *, start_engine: bool = True) -> None:
        """`tends`: where there is work and nobody does it, an engine is started."""
        self.id, self.place = name, place
        self.buffer = EventBuffer("")
        self.source_cache = SourceCache()  # what was read of its sources
        self.readers = self.log_readers = self.heartbeats = 0
        self.replay_slots = asyncio.Semaphore(2)  # each folds a whole journal
        self.submit_lock = asyncio.Lock()  # of those who open batches: one of them waits for other processes
        self._loop = loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, f"office-{name}")
        self._follower = JournalFollower(
            place,
            lambda *told: loop.call_soon_threadsafe(self._publish, *told),
            lambda said: loop.call_soon_threadsafe(self._publish_logs, said),
            start_engine=start_engine,
        )
        self._read_error: PlaitError | None = None
        self._changed, self._wakeup = asyncio.Event(), asyncio.Event()
        self._waiters = 0
        self._requests: set[asyncio.Task[Any]] = set()  # Any: whatever they come to
        self._follow_task: asyncio.Task[None] | None = None

    @property
    def error(self) -> PlaitError | None:
        """What keeps the journal from being read, or engines from staying."""
        return self._read_error or self._follower.engine_error

    @property
    def counters(self) -> JournalCounters:
        """In the desk's thread only."""
        return self._follower.counters

    @property
    def history(self) -> HistoryIndex:
        """In the desk's thread only."""
        return self._follower.history

    async def open(self) -> None:
        """Fold what is there, and follow from then on. Raises PlaitError where the journal can't be read."""
        self.buffer = await self._run_in_thread(self._follower.open)
        self._follow_task = asyncio.create_task(self._follow())

    async def close(self) -> None:
        """What was handed in is safe, whoever still waits for an answer."""
        tasks = [*self._requests, *filter(None, (self._follow_task,))]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._run_in_thread(self._follower.close)
        self._thread.shutdown(wait=False)

    async def relocate(self, place: RepoLocation) -> None:
        """The same project, in another checkout."""
        self.place = place
        await self.query(lambda desk: desk.change_checkout(place))

    async def query(self, read: Callable[[Session], T]) -> T:
        """What `read` finds at the desk, up to date. It runs in the desk's thread, and is quick."""
        return await self._run_in_thread(partial(self._follower.query, read))

    async def ask(self, requests: Sequence[Request], *, patience: float | None = None) -> list[RequestAnswer]:
        """Durable first, then answered, as far as an engine does so in time. It goes on if nobody waits for it any more."""
        return await self._run_shielded(ask_engine(self, requests, patience))

    async def submit(
        self, preview: PlanPreview, plan: Plan, agents: Sequence[AgentSpec], request_id: str = ""
    ) -> tuple[str, list[Problem]]:
        """The new batch's id, once it is in the journal, and what a person should know. `name` is the request's id, if not
        any. Raises PlaitError.
        """
        return await self._run_shielded(submit_batch(self, preview, plan, agents, request_id))

    async def wait_for_change(self) -> None:
        """Returns when there is something new, or when it is time for a sign of life."""
        self._waiters += 1
        self._wakeup.set()
        try:
            await self._changed.wait()
        finally:
            self._waiters -= 1

    async def sleep_until_change(self, seconds: float) -> None:
        """Or until there is something new."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.wait_for_change(), seconds)

    def notify_waiters(self) -> None:
        """Everybody who waits for news goes on."""
        self._changed.set()
        self._changed.clear()

    def estimate_end(self, batch: str) -> float | None:
        """When it is expected to end. In the desk's thread only."""
        return self._follower.estimate_end(batch)

    async def _run_shielded(self, work: Coroutine[None, None, T]) -> T:
        task = asyncio.create_task(work)
        self._requests.add(task)
        task.add_done_callback(self._on_request_done)
        return await asyncio.shield(task)

    def _on_request_done(self, task: asyncio.Task[Any]) -> None:
        self._requests.discard(task)
        if not task.cancelled():
            task.exception()  # whoever asked may have gone

    async def _run_in_thread(self, work: Callable[[], T]) -> T:
        return await self._loop.run_in_executor(self._thread, work)

    async def _follow(self) -> None:
        pause, beat = ACTIVE_POLL_SECONDS, time.monotonic()
        while True:
            if time.monotonic() - beat >= HEARTBEAT_SECONDS:
                beat = time.monotonic()
                self.heartbeats += 1
                self.notify_waiters()
            try:
                moved = await self._run_in_thread(partial(self._follower.poll, overhear=self.log_readers > 0))
                self._read_error = None
            except Exception as error:  # noqa: BLE001 - whatever it was, there is a next time
                moved = False
                self._record_failure(error)
                await asyncio.sleep(READ_RETRY_SECONDS)
            pause = ACTIVE_POLL_SECONDS if moved else min(2 * pause, self._max_pause())
            await self._sleep(pause)

    def _max_pause(self) -> float:
        if not (self.readers or self._waiters or self._requests):
            return UNWATCHED_POLL_SECONDS
        return BUSY_POLL_SECONDS if self._follower.engine_running or self._requests else IDLE_POLL_SECONDS

    async def _sleep(self, seconds: float) -> None:
        """Or until somebody comes who waits for news."""
        self._wakeup.clear()
        if seconds <= BUSY_POLL_SECONDS:
            await asyncio.sleep(seconds)
            return
        with suppress(TimeoutError):
            await asyncio.wait_for(self._wakeup.wait(), seconds)

    def _record_failure(self, error: Exception) -> None:
        if isinstance(error, PlaitError):
            self._read_error = error
            return
        if self._read_error is None or self._read_error.message != describe_error(error):
            self._loop.call_exception_handler({"message": f"office {self.id}", "exception": error})
        self._read_error = Bug(describe_error(error))

    def _publish(self, journal: str, events: Sequence[BufferedEvent], seq: int) -> None:
        replaced = journal != self.buffer.journal
        if replaced:
            self.buffer = EventBuffer(journal)
        if replaced or events or seq != self.buffer.seq:
            self.buffer.append(events, seq)
            self.notify_waiters()

    def _publish_logs(self, events: Sequence[StreamEvent]) -> None:
        self.buffer.append_transient(events)
        self.notify_waiters()


async def ask_engine(
    session: ProjectSession, requests: Sequence[Request], patience: float | None = None
) -> list[RequestAnswer]:
    await session.query(lambda desk: desk.enqueue(requests))
    return await _await_answers(session, requests, ANSWER_TIMEOUT_SECONDS if patience is None else patience)


async def submit_batch(
    session: ProjectSession, preview: PlanPreview, plan: Plan, agents: Sequence[AgentSpec], request_id: str
) -> tuple[str, list[Problem]]:
    submission, warnings = await asyncio.to_thread(build_submission, session.place, preview, plan, agents)
    async with session.submit_lock, _hold_lock(lock_submission(session.place)):
        raise_limit = await session.query(lambda desk: check_admission(desk.preview_state(), preview, plan))
        if raise_limit is not None:
            await ask_engine(session, [raise_limit])
        request = await session.query(lambda desk: desk.enqueue_submission(submission, request_id))
        (answer,) = await _await_answers(session, [request], SUBMIT_TIMEOUT_SECONDS)
        return await session.query(lambda desk: desk.confirm_submission(request, answer)), warnings


async def _await_answers(session: ProjectSession, requests: Sequence[Request], patience: float) -> list[RequestAnswer]:
    deadline = time.monotonic() + patience
    try:
        while not await session.query(lambda desk: desk.are_answered(requests)) and time.monotonic() < deadline:
            await session.query(Session.ensure_engine)
            await session.sleep_until_change(ENGINE_CHECK_SECONDS)
    finally:
        answers = await session.query(lambda desk: desk.collect_answers(requests))
    return answers


@asynccontextmanager
async def _hold_lock(lock: AbstractContextManager[None]) -> AsyncIterator[None]:
    """Nobody else opens a batch meanwhile, in whatever process. Who stops waiting for it does not get it later."""
    entering = asyncio.ensure_future(asyncio.to_thread(lock.__enter__))
    try:
        await asyncio.shield(entering)
    except asyncio.CancelledError:
        entering.add_done_callback(lambda entered: entered.exception() or lock.__exit__(None, None, None))
        raise
    try:
        yield
    finally:
        lock.__exit__(None, None, None)
