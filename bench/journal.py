"""Appending to the journal and reading it back, against bare SQLite and bare json doing the same amount of work."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.table import Row, interleaved
from plait.core.events import Event, Record
from plait.core.reports import AttemptExited, AttemptUsed, Outcome
from plait.core.settings import Spend
from plait.core.status import Category
from plait.core.task import Attempt, Step
from plait.store import codec
from plait.store.journal_reader import open_journal_reader
from plait.store.journal_writer import open_journal_writer
from plait.store.verification import verify_journal

# Adds the next group of records as one commit.
Append = Callable[[], None]


def rows(quick: bool) -> list[Row]:  # noqa: FBT001 - the one thing that every benchmark is asked
    commits, rounds, length = (100, 3, 20_000) if quick else (300, 5, 200_000)
    appending = [row for size in (1, 10, 100) for row in _appending(size, commits, rounds)]
    return appending + _reading(length, rounds)


def _appending(size: int, commits: int, rounds: int) -> list[Row]:
    def many(append: Append) -> None:
        for _ in range(commits):
            append()

    records = [Record(seq, float(seq), _event(seq)) for seq in range(1, size * commits * rounds + 1)]
    groups = [records[first : first + size] for first in range(0, len(records), size)]
    with (
        TemporaryDirectory() as folder,
        _ours(Path(folder), groups) as ours,
        _bare(Path(folder), groups) as bare,
    ):
        times = interleaved(rounds, lambda: many(ours), lambda: many(bare))
    each, floor = (1e6 * taken / (commits * size) for taken in times)
    what = f"append, {size} per commit"
    return [
        Row(what, each, "µs/record", floor, "at most 2x"),
        Row(what, 1e6 / each, "records/s"),
    ]


def _reading(length: int, rounds: int) -> list[Row]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "journal.db"
        with closing(open_journal_writer(path)) as journal:
            journal.append([Record(seq, float(seq), _event(seq)) for seq in range(1, length + 1)])
        replay, check, floor = interleaved(
            rounds, lambda: _replay(path), lambda: verify_journal(path), lambda: _json_only(path)
        )
    each, examined, least = (1e6 * taken / length for taken in (replay, check, floor))
    return [
        Row(f"read {length:,} records, checked and decoded", each, "µs/record", least, "at most 2x"),
        Row(f"read {length:,} records, checked and decoded", 1e6 / each, "records/s"),
        Row("examine before writing", examined, "µs/record", each, "well below 1x of reading"),
    ]


@contextmanager
def _ours(folder: Path, groups: Sequence[Sequence[Record]]) -> Iterator[Append]:
    coming = iter(groups)
    with closing(open_journal_writer(folder / "journal.db")) as journal:
        yield lambda: journal.append(next(coming))


@contextmanager
def _bare(folder: Path, groups: Sequence[Sequence[Record]]) -> Iterator[Append]:
    """The floor: blobs of the same sizes, ready made, committed as durably."""
    overhead = bytes(40)  # time, version, kind and check
    coming = iter([[(codec.encode_event(record.event) + overhead,) for record in group] for group in groups])
    with closing(sqlite3.connect(folder / "bare.db", isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("CREATE TABLE records (seq INTEGER PRIMARY KEY, event BLOB)")

        def append() -> None:
            db.execute("BEGIN")
            db.executemany("INSERT INTO records (event) VALUES (?)", next(coming))
            db.execute("COMMIT")

        yield append


def _replay(path: Path) -> None:
    with closing(open_journal_reader(path)) as reader:
        for _ in reader.read():
            pass


def _json_only(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        for (event,) in db.execute("SELECT event FROM records ORDER BY seq"):
            json.loads(event)


def _event(seq: int) -> Event:
    """Half of what an attempt reports is small, half is not."""
    attempt = Attempt("batch-7f3a", f"task-{seq % 1000:04}", Step.WRITE, 1 + seq % 3)
    spend = Spend(microusd=seq * 7, tokens=seq * 17)
    if seq % 2:
        return AttemptUsed(attempt, spend)
    files = ("src/one/thing.py", "tests/test_thing.py")
    return AttemptExited(attempt, Outcome(Category.OK, 0, spend=spend, tip="0" * 40, files=files))
