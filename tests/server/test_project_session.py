"""A project session while things go wrong: readers that are stuck, journals that can't be read, engines that do not stay."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager, closing
from functools import cache
from pathlib import Path

import pytest

from plait.client import engine_launcher
from plait.client.session import Session
from plait.core.errors import WorldError
from plait.core.events import Record
from plait.core.requests import Pause
from plait.core.settings import Settings
from plait.git.location import RepoLocation
from plait.server import journal_follower, project_session, sse
from plait.server.event_buffer import EventCursor
from plait.server.project_session import ProjectSession
from plait.server.sse import SseStream
from plait.store.interfaces import JournalCorruptError
from plait.store.journal_writer import open_journal_writer
from plait.store.project_files import INBOX_FILE, JOURNAL_FILE
from plait.store.state_claim import claim_state
from tests.support.generated_journal import batch_of, records_of
from tests.support.running_server import SseReader, expected_events
from tests.support.waiting import TIMEOUT_SECONDS

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def short_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project_session, "READ_RETRY_SECONDS", 0.05)
    monkeypatch.setattr(journal_follower, "ENGINE_RETRY_SECONDS", 0.05)
    monkeypatch.setattr(sse, "REPLAY_RETRY_SECONDS", 0.05)


@cache
def history(tasks: int = 20) -> Sequence[Record]:
    return tuple(records_of(batch_of(tasks), Settings()))


@asynccontextmanager
async def open_session(location: RepoLocation, *, start_engine: bool = False) -> AsyncIterator[ProjectSession]:
    session = ProjectSession("r", location, start_engine=start_engine)
    await session.open()
    try:
        yield session
    finally:
        await session.close()


async def wait_for(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(TIMEOUT_SECONDS):
        while not holds():  # noqa: ASYNC110 - nobody says a word of it
            await asyncio.sleep(0.005)


async def read_events(stream: SseStream, reader: SseReader, count: int) -> None:
    async with asyncio.timeout(TIMEOUT_SECONDS), aclosing(aiter(stream)) as chunks:
        async for data in chunks:
            reader.feed(data)
            if len(reader.events) >= count:
                return


def move_away(location: RepoLocation, to: Path) -> None:
    for file in list(location.state.iterdir()):
        file.rename(to / f"away-{file.name}")


async def test_stuck_readers_lose_their_replay_slots(location: RepoLocation, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "REPLAY_IDLE_SECONDS", 0.05)
    monkeypatch.setattr(sse, "SSE_CHUNK_BYTES", 2_000)
    with closing(open_journal_writer(location.state / JOURNAL_FILE)) as journal:
        journal.append(history())
        wanted, begin = expected_events(journal.id, history()), EventCursor(journal.id, 0)
        async with open_session(location) as session:
            session.buffer.since = session.buffer.seq  # all is forgotten
            stuck = [aiter(SseStream(session, begin)) for _ in range(3)]
            for stream in stuck:
                await anext(stream)
                await asyncio.wait_for(anext(stream), TIMEOUT_SECONDS)  # the first of many portions
            reader = SseReader()
            await read_events(SseStream(session, begin), reader, len(wanted))
            assert reader.events == wanted
            for stream in stuck:
                await stream.aclose()


async def test_a_reader_that_lost_its_slot_continues_at_its_cursor(
    location: RepoLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "SSE_CHUNK_BYTES", 2_000)
    monkeypatch.setattr(sse, "REPLAY_IDLE_SECONDS", 0.0)
    with closing(open_journal_writer(location.state / JOURNAL_FILE)) as journal:
        journal.append(history())
        wanted = expected_events(journal.id, history())
        async with (
            open_session(location) as session,
            aclosing(aiter(SseStream(session, EventCursor(journal.id, 0)))) as stream,
        ):
            session.buffer.since = session.buffer.seq
            reader = SseReader()
            while len(reader.events) < len(wanted):
                reader.feed(await asyncio.wait_for(anext(stream), TIMEOUT_SECONDS))
                await wait_for(lambda: session.replay_slots._value == 2)
        assert reader.events == wanted


async def test_disconnected_readers_leave_no_threads_files_or_tasks(
    location: RepoLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sse, "SSE_CHUNK_BYTES", 2_000)
    with closing(open_journal_writer(location.state / JOURNAL_FILE)) as journal:
        journal.append(history())
        begin = EventCursor(journal.id, 0)
    async with open_session(location) as session:
        session.buffer.since = session.buffer.seq
        await connect_and_disconnect(session, begin, 10)
        await wait_for(lambda: session.replay_slots._value == 2)
        before = count_resources()
        await connect_and_disconnect(session, begin, 100)
        assert (session.readers, session.log_readers) == (0, 0)
        await wait_for(lambda: all(now <= then + 3 for now, then in zip(count_resources(), before, strict=True)))


def count_resources() -> tuple[int, int, int]:
    """Threads, files and tasks. SQLite keeps a few files, to use them again."""
    return threading.active_count(), len(os.listdir("/dev/fd")), len(asyncio.all_tasks())  # noqa: PTH208


async def connect_and_disconnect(session: ProjectSession, mark: EventCursor, times: int) -> None:
    for number in range(times):
        stream = aiter(SseStream(session, mark))
        for _ in range(number % 3):
            await anext(stream)
        listening = asyncio.ensure_future(anext(stream))
        await asyncio.sleep(0)
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
        await stream.aclose()


async def test_a_removed_journal_resets_readers_and_the_next_one_is_read_from_its_beginning(
    location: RepoLocation, tmp_path: Path
) -> None:
    with closing(open_journal_writer(location.state / JOURNAL_FILE)) as journal:
        journal.append(history())
    async with open_session(location) as session:
        reader = SseReader()
        listening = asyncio.create_task(read_events(SseStream(session, None), reader, 1))
        await wait_for(lambda: session.readers)
        move_away(location, tmp_path)
        await listening
        assert b"event: reset" in reader.events[0]
        assert reader.last_event_id == "0"
        with closing(open_journal_writer(location.state / JOURNAL_FILE)) as journal:
            journal.append(history(3))
            wanted = expected_events(journal.id, history(3))
            after = SseReader()
            await read_events(SseStream(session, reader.cursor), after, len(wanted))
            assert after.events == wanted


async def test_a_damaged_journal_is_an_error_until_it_is_replaced(location: RepoLocation, tmp_path: Path) -> None:
    with closing(open_journal_writer(location.state / JOURNAL_FILE)) as journal:
        journal.append(history())
    async with open_session(location) as session:
        with closing(sqlite3.connect(location.state / JOURNAL_FILE)) as damage, damage:
            damage.execute("UPDATE meta SET last = last + 1")
        with pytest.raises(JournalCorruptError):
            await session.query(lambda _: None)
        await wait_for(lambda: isinstance(session.error, JournalCorruptError))
        move_away(location, tmp_path)
        with closing(open_journal_writer(location.state / JOURNAL_FILE)) as journal:
            journal.append(history(3))
            await wait_for(lambda: session.buffer.seq == len(history(3)))
            assert await session.query(lambda client_session: client_session.journal_id) == journal.id
        await wait_for(lambda: session.error is None)


async def test_events_continue_while_no_engine_keeps_running(
    location: RepoLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Engines that exit are started again; records that others write meanwhile are still published."""
    monkeypatch.setattr(journal_follower, "ENGINE_WATCH_SECONDS", 0.01)
    monkeypatch.setattr(project_session, "READ_RETRY_SECONDS", 1_000.0)
    monkeypatch.setattr(journal_follower, "ENGINE_RETRY_SECONDS", 1_000.0)
    monkeypatch.setattr(engine_launcher, "_start", lambda _: os.spawnlp(os.P_NOWAIT, "true", "true"))
    with closing(open_journal_writer(location.state / JOURNAL_FILE)) as journal:
        journal.append(history()[:30])
    async with open_session(location, start_engine=True) as session:
        await wait_for(lambda: isinstance(session.error, WorldError))
        await asyncio.to_thread(write_elsewhere, location, 30)
        await wait_for(lambda: session.buffer.seq == len(history()))


def write_elsewhere(location: RepoLocation, start: int) -> None:
    """A process that reads a journal does not write it."""
    code = (
        "import sys; from pathlib import Path; from plait.store.journal_writer import open_journal_writer;"
        "from plait.core.settings import Settings; from tests.support.generated_journal import batch_of, records_of;"
        "open_journal_writer(Path(sys.argv[1])).append(records_of(batch_of(20), Settings())[int(sys.argv[2]):])"
    )
    subprocess.run([sys.executable, "-c", code, str(location.state / JOURNAL_FILE), str(start)], check=True)


async def test_following_continues_after_an_unexpected_error(
    location: RepoLocation, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed: list[object] = []
    wait = Session.wait

    def stumble(client_session: Session, timeout: float) -> bool:
        if not failed:
            failed.append(client_session)
            raise ZeroDivisionError("once")
        return wait(client_session, timeout)

    messages: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, text: messages.append(text["exception"]))
    with closing(open_journal_writer(location.state / JOURNAL_FILE)) as journal:
        async with open_session(location) as session:
            monkeypatch.setattr(Session, "wait", stumble)
            await wait_for(lambda: failed)
            journal.append(history())
            await wait_for(lambda: session.buffer.seq == len(history()))
    assert [type(error) for error in messages] == [ZeroDivisionError]


async def test_a_session_closes_while_a_request_waits_and_the_request_stays_durable(location: RepoLocation) -> None:
    """What was asked for is safe: the next engine answers it."""
    claim_state(location.state)
    with closing(open_journal_writer(location.state / JOURNAL_FILE)) as journal:
        journal.append(history()[:30])
        async with open_session(location) as session:
            asking = asyncio.create_task(session.ask([Pause("r1", "b")]))
            await wait_for(lambda: session._requests and (location.state / INBOX_FILE).exists())
            asking.cancel()
        async with open_session(location) as session:
            assert [request.id for request in await session.query(Session.list_pending)] == ["r1"]
