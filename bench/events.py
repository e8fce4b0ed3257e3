"""Live events: how many `plait serve` delivers a second, through its guard, against a bare starlette stream of events that
are there already.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import msgspec
import psutil

from bench.events_server import GO, TOLD
from bench.table import Row
from plait.client.event_stream import EventStream
from plait.core.events import Record
from plait.core.settings import Settings
from plait.server.event_buffer import EventCursor, encode_events
from plait.store.interfaces import Journal
from plait.store.journal_writer import open_journal_writer
from plait.store.project_files import JOURNAL_FILE
from plait.store.state_claim import claim_state
from tests.support.generated_journal import batch_of, records_of

AT_ONCE = 20  # records of a commit: an engine that is busy writes about so many
QUIET = "quiet"  # the batch that idle clients ask for: nothing happens in it


def rows(quick: bool) -> list[Row]:  # noqa: FBT001 - the one thing that every benchmark is asked
    tasks, idle, reading, rounds = (100, 50, 5, 1) if quick else (1_000, 500, 50, 3)
    measured = [_measured(kind, tasks, idle, reading) for _ in range(rounds) for kind in ("plait", "floor")]
    ours, floor = measured[::2], measured[1::2]
    crowd = f"{reading} clients read, {idle} are idle"
    return [
        Row(
            f"events delivered a second, {tasks:,} tasks, {crowd}",
            median(rate for rate, _ in ours),
            "1/s",
            median(rate for rate, _ in floor),
            "at least 0.5x",
        ),
        Row(
            f"memory per client, {crowd}",
            median(memory for _, memory in ours),
            "KiB",
            median(memory for _, memory in floor),
        ),
    ]


def _measured(kind: str, tasks: int, idle: int, reading: int) -> tuple[float, float]:
    """Events a second over all who read, and KiB for each client."""
    earlier, records = _history(tasks)
    with TemporaryDirectory() as name:
        folder = Path(name)
        state = folder / ".plait"
        os.environ["XDG_STATE_HOME"] = str(folder / "home" / "state")
        claim_state(state)
        with closing(open_journal_writer(state / JOURNAL_FILE)) as journal:
            journal.append(earlier)
            told = _told(journal.id, earlier, records)
            (folder / TOLD).write_bytes(msgspec.json.encode([data.decode() for data in told]))
            with (_plait if kind == "plait" else _floor)(folder) as served:
                crowd = _Crowd(folder / GO, served, str(EventCursor(journal.id, len(earlier))), len(told))
                before = served.process.memory_info().rss

                async def measure() -> tuple[float, float]:
                    await crowd.connect(idle, reading)
                    memory = (served.process.memory_info().rss - before) / (idle + reading) / 1024
                    return len(told) * reading / await crowd.read(journal, records), memory

                return asyncio.run(measure())


def _history(tasks: int) -> tuple[list[Record], list[Record]]:
    """A batch in which nothing happens any more, and the one that is heard."""
    earlier = records_of(batch_of(1), Settings(), QUIET)
    records = records_of(batch_of(tasks), Settings())
    return earlier, [replace(record, seq=record.seq + len(earlier)) for record in records]


def _told(journal: str, earlier: Sequence[Record], records: Sequence[Record]) -> list[bytes]:
    feed = EventStream()
    for record in earlier:
        feed.apply(record)
    return [piece.data for record in records for piece in encode_events(journal, record.seq, feed.apply(record))]


@dataclass(frozen=True, slots=True)
class _Served:
    port: int
    process: psutil.Process
    token: str = ""


@contextmanager
def _plait(folder: Path) -> Iterator[_Served]:
    """As everybody starts it, in a home of its own."""
    home = folder / "home"
    env = {name: os.environ[name] for name in ("PATH", "XDG_STATE_HOME")} | {"HOME": str(home)}
    plait = (sys.executable, "-m", "plait")
    with _started([*plait, "serve", "--json", "--port", "0"], folder, env) as (line, _):
        told = msgspec.json.decode(line, type=dict[str, Any])
        token = subprocess.run([*plait, "token"], cwd=folder, env=env, check=True, capture_output=True, text=True)
        port = int(told["url"].rsplit(":", 1)[1])
        yield _Served(port, psutil.Process(told["pid"]), token.stdout.strip())


@contextmanager
def _floor(folder: Path) -> Iterator[_Served]:
    words = [sys.executable, "-m", "bench.events_server", str(folder)]
    with _started(words, None, None) as (line, pid):
        yield _Served(int(line), psutil.Process(pid))


@contextmanager
def _started(words: list[str], cwd: Path | None, env: dict[str, str] | None) -> Iterator[tuple[str, int]]:
    started = subprocess.Popen(words, cwd=cwd, env=env, stdout=subprocess.PIPE, text=True)
    try:
        assert started.stdout is not None
        yield started.stdout.readline(), started.pid
    finally:
        started.kill()
        started.wait()


class _Crowd:
    def __init__(self, go: Path, served: _Served, mark: str, events: int) -> None:
        self._go, self._served, self._mark, self._events = go, served, mark, events
        self._writers: list[asyncio.StreamWriter] = []
        self._readers: list[asyncio.StreamReader] = []

    async def connect(self, idle: int, reading: int) -> None:
        for _ in range(idle):
            await self._connected(f"/api/events?batch={QUIET}")
        self._readers = [await self._connected("/api/events") for _ in range(reading)]

    async def read(self, journal: Journal, records: Sequence[Record]) -> float:
        """How many seconds until everybody who reads has all of it."""
        began = perf_counter()
        self._go.touch()
        counting = [asyncio.create_task(self._count(reader)) for reader in self._readers]
        for at in range(0, len(records), AT_ONCE):
            await asyncio.sleep(0)  # the others get a turn
            journal.append(records[at : at + AT_ONCE])
        await asyncio.gather(*counting)
        for writer in self._writers:
            writer.close()
        return perf_counter() - began

    async def _connected(self, path: str) -> asyncio.StreamReader:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._served.port, limit=1 << 20)
        self._writers.append(writer)
        heads = {
            "Host": f"127.0.0.1:{self._served.port}",
            "Authorization": f"Bearer {self._served.token}",
            "Last-Event-ID": self._mark,
        }
        said = "".join(f"{name}: {value}\r\n" for name, value in heads.items())
        writer.write(f"GET {path} HTTP/1.1\r\n{said}\r\n".encode())
        await reader.readuntil(b"retry:")
        return reader

    async def _count(self, reader: asyncio.StreamReader) -> None:
        """An event may be cut anywhere: what its beginning could be is looked at again with the next piece."""
        seen, rest = 0, b""
        while seen < self._events:
            data = await reader.read(1 << 18)
            if not data:
                raise ConnectionError("the server hung up")
            data = rest + data
            seen += data.count(b"\ndata: ")
            rest = data[-6:] if not data.endswith(b"\ndata: ") else b""
