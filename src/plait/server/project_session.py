"""One project's session: a follower thread, an event buffer, its readers, and requests to the engine.

The thread reads the journal and answers queries one after another; the event loop never waits for it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from functools import partial
from typing import Any, TypeVar

from plait.client.event_types import StreamEvent
from plait.client.merged_changes import ChangedFiles
from plait.client.planning.plan_preview import PlanPreview
from plait.client.planning.submission import check_admission, lock_submission
from plait.client.session import (
    ANSWER_TIMEOUT_SECONDS,
    ENGINE_CHECK_SECONDS,
    SUBMIT_TIMEOUT_SECONDS,
    RequestAnswer,
    Session,
    Submission,
)
from plait.client.source_reader import SourceCache
from plait.core.errors import Bug, PlaitError, describe_error
from plait.core.requests import Request, Submit
from plait.git.location import RepoLocation
from plait.server.event_buffer import BufferedEvent, EventBuffer, EventCursor
from plait.server.journal_follower import JournalFollower

T = TypeVar("T")

# Seconds between two looks at the journal: while it grows; at most while an engine runs or a request is pending; while
# no engine runs; while there are no readers.
ACTIVE_POLL_SECONDS, BUSY_POLL_SECONDS, IDLE_POLL_SECONDS, UNWATCHED_POLL_SECONDS = 0.002, 0.05, 0.25, 1.0
HEARTBEAT_SECONDS = 15.0  # between two heartbeats to idle readers
READ_RETRY_SECONDS = 5.0  # until an unreadable journal is tried again


class RequestScope:
    """One HTTP request and the sessions it uses. `closing` is set when event streams have to end."""

    def __init__(self) -> None:
        self.closing = asyncio.Event()
        self.sessions: set[ProjectSession] = set()


class ProjectSession:
    """An open project, for one event loop. `readers` counts event streams, `log_readers` those with agent output."""

    def __init__(self, project_id: str, location: RepoLocation, *, url: str = "", start_engine: bool = True) -> None:
        """Prepare it. `url`: a mirror's remote. `start_engine`: start one whenever there is work."""
        self.id, self.location, self.url = project_id, location, url
        self.buffer = EventBuffer("")
        self.source_cache = SourceCache()
        self.changed_files = ChangedFiles()
        self.readers = self.log_readers = self.heartbeats = 0
        self.scopes: set[RequestScope] = set()  # requests in progress
        self.last_used = time.monotonic()
        self.replay_slots = asyncio.Semaphore(2)  # each replay folds a whole journal
        self._unused = asyncio.Event()
        self._unused.set()
        self._submit_lock = asyncio.Lock()  # so that only one thread waits for the lock between processes
        self._loop = loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, f"session-{project_id}")
        self.follower = JournalFollower(  # its attributes belong to the session's thread
            location,
            lambda *events: loop.call_soon_threadsafe(self._publish, *events),
            lambda events: loop.call_soon_threadsafe(self._publish_logs, events),
            start_engine=start_engine,
        )
        self._read_error: PlaitError | None = None
        self._changed, self._wakeup = asyncio.Event(), asyncio.Event()
        self._waiters = 0
        self._requests: set[asyncio.Task[Any]] = set()  # Any: of any result
        self._follow_task: asyncio.Task[None] | None = None

    @property
    def error(self) -> PlaitError | None:
        """Why the journal can't be read, or no engine keeps running."""
        return self._read_error or self.follower.engine_error

    def add_scope(self, scope: RequestScope | None) -> None:
        """Keep the session open until the request is over. None: the use has no known end."""
        self.last_used = time.monotonic()
        if scope is not None:
            scope.sessions.add(self)
            self.scopes.add(scope)
            self._unused.clear()

    def remove_scope(self, scope: RequestScope) -> None:
        self.last_used = time.monotonic()
        self.scopes.discard(scope)
        if not self.scopes:
            self._unused.set()

    async def open(self) -> None:
        """Read the journal and follow it from then on. Raises PlaitError if it can't be read."""
        self.buffer = await self._run_in_thread(self.follower.open)
        self._follow_task = asyncio.create_task(self._follow())

    async def close(self) -> None:
        """Close the session. Requests that still wait for an answer are durable already."""
        tasks = [*self._requests, *filter(None, (self._follow_task,))]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._run_in_thread(self.follower.close)
        self._thread.shutdown(wait=False)

    async def close_when_unused(self) -> None:
        """End the event streams, wait for other requests, then close."""
        for scope in self.scopes:
            scope.closing.set()
        await self._unused.wait()
        await self.close()

    async def relocate(self, location: RepoLocation) -> None:
        """Continue in another checkout of the same project."""
        self.location = location
        await self.query(lambda client: client.change_checkout(location))

    async def query(self, read: Callable[[Session], T]) -> T:
        """Run `read` on the up-to-date client session, in the session's thread; it has to be quick."""
        return await self._run_in_thread(partial(self.follower.query, read))

    async def list_last_output(self) -> list[StreamEvent]:
        """List the last activity of each running attempt that readers were sent."""
        return await self._run_in_thread(self.follower.list_last_output)

    async def query_with_cursor(self, read: Callable[[Session], T]) -> tuple[T, str]:
        """Return what `read` returns, and the `Last-Event-ID` from which events follow without a gap."""
        return await self.query(
            lambda client: (read(client), str(EventCursor(client.journal_id or "", client.state.seq)))
        )

    async def ask(self, requests: Sequence[Request]) -> list[RequestAnswer]:
        """Make requests durable, then wait for their answers. Continues if the caller is cancelled."""

        def enqueue(client: Session) -> Sequence[Request]:
            client.enqueue(requests)
            return requests

        return await self._run_shielded(self._send(enqueue, ANSWER_TIMEOUT_SECONDS, lambda *sent: sent[2]))

    async def submit(
        self, submission: Submission, preview: PlanPreview, request_id: str, report: Callable[[Session, str], T]
    ) -> T:
        """Submit a batch; once it is in the journal, return what `report` makes of its id. Raises PlaitError."""

        def enqueue(client: Session) -> Sequence[Request]:
            raise_limit = check_admission(client.preview_state(), preview, submission.plan)
            if raise_limit is not None:
                client.enqueue([raise_limit])
            try:
                submit = client.enqueue_submission(submission, request_id)
            except BaseException:
                if raise_limit is not None:
                    client.collect_answers([raise_limit])  # its caller is gone
                raise
            return [submit] if raise_limit is None else [raise_limit, submit]

        def confirm(client: Session, requests: Sequence[Request], answers: Sequence[RequestAnswer]) -> T:
            submit = requests[-1]
            assert isinstance(submit, Submit)
            return report(client, client.confirm_submission(submit, answers[-1]))

        async def send_locked() -> T:
            async with self._submit_lock, _hold_lock(lock_submission(self.location)):
                return await self._send(enqueue, SUBMIT_TIMEOUT_SECONDS, confirm)

        return await self._run_shielded(send_locked())

    async def wait_for_change(self) -> None:
        """Return when there is something new, or a heartbeat is due."""
        self._waiters += 1
        self._wakeup.set()
        try:
            await self._changed.wait()
        finally:
            self._waiters -= 1

    async def sleep_until_change(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self.wait_for_change(), seconds)

    def notify_waiters(self) -> None:
        self._changed.set()
        self._changed.clear()

    async def _send(
        self,
        enqueue: Callable[[Session], Sequence[Request]],
        seconds: float,
        finish: Callable[[Session, Sequence[Request], list[RequestAnswer]], T],
    ) -> T:
        """Enqueue requests and wait for their answers. Each step is one visit to the session's thread: the first
        enqueues, the last finishes, all start an engine.
        """
        requests: Sequence[Request] = ()
        deadline = time.monotonic() + seconds

        def advance(client: Session) -> tuple[T] | None:
            nonlocal requests
            requests = requests or enqueue(client)
            if client.are_answered(requests) or time.monotonic() >= deadline:
                return (finish(client, requests, client.collect_answers(requests)),)
            try:
                client.ensure_engine()
            except BaseException:
                client.collect_answers(requests)
                raise
            return None

        while (result := await self.query(advance)) is None:
            await self.sleep_until_change(ENGINE_CHECK_SECONDS)
        return result[0]

    async def _run_shielded(self, work: Coroutine[None, None, T]) -> T:
        task = asyncio.create_task(work)
        self._requests.add(task)
        task.add_done_callback(self._on_request_done)
        return await asyncio.shield(task)

    def _on_request_done(self, task: asyncio.Task[Any]) -> None:
        self._requests.discard(task)
        if not task.cancelled():
            task.exception()  # retrieved, in case the caller is gone

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
                moved = await self._run_in_thread(partial(self.follower.poll, read_logs=self.log_readers > 0))
                self._read_error = None
            except Exception as error:  # noqa: BLE001 - the next look may succeed
                moved = False
                self._record_failure(error)
                await asyncio.sleep(READ_RETRY_SECONDS)
            pause = ACTIVE_POLL_SECONDS if moved else min(2 * pause, self._max_pause())
            await self._sleep(pause)

    def _max_pause(self) -> float:
        if not (self.readers or self._waiters or self._requests):
            return UNWATCHED_POLL_SECONDS
        return BUSY_POLL_SECONDS if self.follower.engine_running or self._requests else IDLE_POLL_SECONDS

    async def _sleep(self, seconds: float) -> None:
        """Sleep; a long pause ends when a reader starts to wait."""
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
            self._loop.call_exception_handler({"message": f"session {self.id}", "exception": error})
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


@asynccontextmanager
async def _hold_lock(lock: AbstractContextManager[None]) -> AsyncIterator[None]:
    """Enter a blocking lock in a thread. If the wait is cancelled, the lock is released as soon as it is acquired."""
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
