from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, closing
from functools import cache
from pathlib import Path
from random import Random

import pytest

from plait.core.events import Record
from plait.core.settings import Settings
from plait.git.location import RepoLocation
from plait.server.event_buffer import EventCursor
from plait.server.project_session import ProjectSession
from plait.server.sse import SseStream
from plait.store.interfaces import Journal
from plait.store.journal_writer import open_journal_writer
from plait.store.project_files import JOURNAL_FILE
from tests.support.generated_journal import batch_of, records_of
from tests.support.running_server import SseReader, expected_events
from tests.support.waiting import TIMEOUT_SECONDS

CUTS = 40
pytestmark = pytest.mark.anyio


@pytest.fixture
def journal(location: RepoLocation) -> Iterator[Journal]:
    """Whoever writes it holds the lease: no engine is started beside it."""
    with closing(open_journal_writer(location.state / JOURNAL_FILE)) as writer:
        yield writer


@cache
def history(tasks: int) -> Sequence[Record]:
    return tuple(records_of(batch_of(tasks), Settings()))


@asynccontextmanager
async def open_session(location: RepoLocation) -> AsyncIterator[ProjectSession]:
    session = ProjectSession("r", location)
    await session.open()
    try:
        yield session
    finally:
        await session.close()


async def listen(session: ProjectSession, reader: SseReader, until: int, **options: object) -> None:
    async with aclosing(aiter(SseStream(session, reader.cursor, **options))) as stream:  # type: ignore[arg-type]
        async for data in stream:
            reader.feed(data)
            if len(reader.events) >= until:
                return


async def test_a_reader_that_reconnects_often_gets_every_event_once_even_dropped_ones(
    location: RepoLocation, journal: Journal
) -> None:
    records, chance, reader = history(300), Random(7), SseReader(str(EventCursor(journal.id, 0)))
    wanted = expected_events(journal.id, records)
    journal.append(records[:1])
    async with open_session(location) as session:
        session.buffer._max_bytes = 60_000
        writing = asyncio.create_task(write(journal, records[1:]))
        for _ in range(CUTS):
            await cut_off_somewhere(session, reader, chance)
        await asyncio.wait_for(listen(session, reader, len(wanted)), TIMEOUT_SECONDS)
        await writing
        assert session.buffer.since > 0
    assert reader.events == wanted


async def cut_off_somewhere(session: ProjectSession, reader: SseReader, chance: Random) -> None:
    left = chance.choice((0, 10, 300, 5_000, 30_000))
    async with aclosing(aiter(SseStream(session, reader.cursor))) as stream:
        while left > 0:
            try:
                data = await asyncio.wait_for(anext(stream), 0.05)
            except TimeoutError:  # nothing is new: that is a place to be cut off, too
                break
            reader.feed(data[:left])
            left -= len(data)
    reader.disconnect()


async def write(journal: Journal, records: Sequence[Record]) -> None:
    """As an engine does: a few at a time."""
    at, chance = 0, Random(3)
    while at < len(records):
        some = chance.randrange(1, 60)
        journal.append(records[at : at + some])
        at += some
        await asyncio.sleep(0)


async def test_a_late_reader_gets_all_events_after_its_cursor(location: RepoLocation, journal: Journal) -> None:
    records = history(60)
    journal.append(records)
    wanted = expected_events(journal.id, records)
    async with open_session(location) as session:
        for seq in (0, 1, len(records) // 2):
            left = [data for data in wanted if int(data.split(b"\n", 1)[0].rsplit(b":", 1)[1]) > seq]
            reader = SseReader(str(EventCursor(journal.id, seq)))
            await asyncio.wait_for(listen(session, reader, len(left)), TIMEOUT_SECONDS)
            assert reader.events == left


async def test_a_reader_without_a_cursor_gets_events_from_now_on(location: RepoLocation, journal: Journal) -> None:
    records = history(20)
    journal.append(records[:50])
    async with open_session(location) as session:
        reader = SseReader()
        listening = asyncio.create_task(listen(session, reader, 1))
        while not reader.last_event_id:  # noqa: ASYNC110 - a turn of the loop, no time
            await asyncio.sleep(0)
        assert reader.cursor == EventCursor(journal.id, 50)
        journal.append(records[50:])
        await asyncio.wait_for(listening, TIMEOUT_SECONDS)
    assert json.loads(reader.events[0].split(b"data: ")[1])["seq"] > 50


async def test_a_reader_from_before_the_journal_gets_the_first_batch(
    location: RepoLocation,
) -> None:
    async with open_session(location) as session:
        reader = SseReader()
        listening = asyncio.create_task(listen(session, reader, 1))
        await asyncio.sleep(0)
        with closing(open_journal_writer(location.state / JOURNAL_FILE)) as journal:
            journal.append(history(3))
            await asyncio.wait_for(listening, TIMEOUT_SECONDS)
            assert reader.events[0] == expected_events(journal.id, history(3))[0]


async def test_a_cursor_of_another_journal_gets_a_reset(location: RepoLocation, journal: Journal) -> None:
    journal.append(history(3))
    async with open_session(location) as session:
        for mark in (EventCursor("another", 3), EventCursor(journal.id, 10_000_000)):
            reader = SseReader(str(mark))
            await asyncio.wait_for(listen(session, reader, 1), TIMEOUT_SECONDS)
            assert reader.events[0].startswith(f"id: {journal.id}:{len(history(3))}\nevent: reset\n".encode())


async def test_a_replaced_journal_resets_its_readers(location: RepoLocation, tmp_path: Path) -> None:
    with closing(open_journal_writer(location.state / JOURNAL_FILE)) as journal:
        journal.append(history(3))
    async with open_session(location) as session:
        reader = SseReader()
        listening = asyncio.create_task(listen(session, reader, 1))
        await asyncio.sleep(0)
        for file in list(location.state.iterdir()):
            file.rename(tmp_path / f"away-{file.name}")
        with closing(open_journal_writer(location.state / JOURNAL_FILE)) as journal:
            journal.append(history(4)[:5])
            await asyncio.wait_for(listening, TIMEOUT_SECONDS)
        assert b"event: reset" in reader.events[0]
        assert session.follower.counters is not None


async def test_a_reader_of_one_batch_gets_only_its_events(location: RepoLocation, journal: Journal) -> None:
    journal.append(history(5))
    async with open_session(location) as session:
        reader = SseReader(str(EventCursor(journal.id, 0)))
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(listen(session, reader, 10_000, batch="other"), 0.3)
        assert {json.loads(event.split(b"data: ")[1])["batchId"] for event in reader.events} <= {None}


async def test_an_idle_reader_gets_heartbeats_with_a_current_cursor(
    location: RepoLocation, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plait.server.project_session.HEARTBEAT_SECONDS", 0.01)
    journal.append(history(3)[:1])
    async with open_session(location) as session, aclosing(aiter(SseStream(session, None, batch="other"))) as stream:
        assert (await anext(stream)).startswith(b"retry: ")
        journal.append(history(3)[1:])
        signs = b""
        while f"id: {journal.id}:{len(history(3))}\n\n".encode() not in signs:
            signs += await asyncio.wait_for(anext(stream), TIMEOUT_SECONDS)
        assert b"data:" not in signs
        assert b":\n\n" in signs


async def test_an_event_during_a_heartbeat_is_sent_at_once(
    location: RepoLocation, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plait.server.project_session.HEARTBEAT_SECONDS", 1e9)  # there will be no other
    journal.append(history(3)[:1])
    async with open_session(location) as session, aclosing(aiter(SseStream(session, None))) as stream:
        assert (await anext(stream)).startswith(b"retry: ")
        sending = asyncio.create_task(anext(stream))
        while not session._waiters:  # noqa: ASYNC110 - a turn of the loop, no time
            await asyncio.sleep(0)
        session.heartbeats += 1
        session.notify_waiters()
        assert await sending == b":\n\n"
        journal.append(history(3)[1:])
        while session.buffer.seq < len(history(3)):
            await session.query(lambda _: None)
        assert b"data: " in await asyncio.wait_for(anext(stream), TIMEOUT_SECONDS)


async def test_a_stuck_reader_does_not_affect_others(location: RepoLocation, journal: Journal) -> None:
    records = history(300)
    journal.append(records[:1])
    async with open_session(location) as session:
        async with aclosing(aiter(SseStream(session, EventCursor(journal.id, 0)))) as stuck:
            await anext(stuck)
            reader = SseReader(str(EventCursor(journal.id, 0)))
            listening = asyncio.create_task(listen(session, reader, len(expected_events(journal.id, records))))
            await write(journal, records[1:])
            await asyncio.wait_for(listening, TIMEOUT_SECONDS)
            slow = SseReader(str(EventCursor(journal.id, 0)))
            while len(slow.events) < len(reader.events):
                slow.feed(await asyncio.wait_for(anext(stuck), TIMEOUT_SECONDS))
        assert slow.events == reader.events
