"""The rule that tells a torn end from lost records, on real WALs."""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, strategies as st

from plait.store import wal
from plait.store.journal_writer import SqliteJournal, open_journal_writer
from plait.store.sqlite_files import find_wal
from plait.testing.contracts.sample_records import make_records

COMMITS = 5
META = 2

# Where in a frame they are.
FIELDS = {"page": 0, "commit": 7, "salt-1": 8, "salt-2": 12, "sum": 16, "data": 100}


@pytest.fixture
def journal(path: Path) -> Iterator[SqliteJournal]:
    with closing(open_journal_writer(path)) as journal:
        yield journal


def grown(journal: SqliteJournal, commits: int = COMMITS, size: int = 1) -> bytes:
    for _ in range(commits):
        last = journal.last()
        journal.append(make_records(last + 1, last + size))
    return find_wal(journal._path).read_bytes()


def scan(data: bytes) -> wal.WalScan:
    return wal.scan_wal_file(BytesIO(data))


def frame(data: bytes, number: int) -> int:
    """Where it begins; counted from the end when negative."""
    count = (len(data) - wal.HEADER_SIZE) // wal.FRAME_SIZE
    return wal.HEADER_SIZE + (number % count) * wal.FRAME_SIZE


def changed(data: bytes, place: int, new: bytes) -> bytes:
    return data[:place] + new + data[place + len(new) :]


def flipped(data: bytes, place: int) -> bytes:
    return changed(data, place, bytes([data[place] ^ 0x55]))


def test_each_commit_here_writes_two_pages(journal: SqliteJournal) -> None:
    data = grown(journal)
    assert scan(data) == wal.WalScan(kept=2 * COMMITS, lost=0, has_valid_header=True)
    assert len(data) == wal.HEADER_SIZE + 2 * COMMITS * wal.FRAME_SIZE


def test_a_missing_or_empty_wal_has_no_frames(tmp_path: Path) -> None:
    assert wal.scan_wal(tmp_path / "none") == wal.WalScan(0, 0, has_valid_header=True)
    assert not scan(b"").is_damaged
    assert not scan(bytes(32 + 3 * wal.FRAME_SIZE)).is_damaged


@pytest.mark.parametrize("field", FIELDS.values(), ids=FIELDS)
def test_damage_in_the_last_commit_counts_as_a_crash(journal: SqliteJournal, field: int) -> None:
    data = grown(journal)
    found = scan(flipped(data, frame(data, -1) + field))
    assert not found.is_damaged
    assert found.kept == 2 * (COMMITS - 1)


@pytest.mark.parametrize("field", FIELDS.values(), ids=FIELDS)
def test_damage_before_the_last_commit_is_reported(journal: SqliteJournal, field: int) -> None:
    data = grown(journal)
    for number in range(2 * (COMMITS - 1)):
        assert scan(flipped(data, frame(data, number) + field)).is_damaged, number


def test_a_commit_whose_mark_is_damaged_is_counted(journal: SqliteJournal) -> None:
    data = grown(journal)
    assert scan(changed(data, frame(data, -3) + 4, bytes(4))).is_damaged


def test_a_commit_without_any_frame_left_is_counted(journal: SqliteJournal) -> None:
    data = grown(journal)
    assert scan(changed(data, frame(data, -4), bytes(2 * wal.FRAME_SIZE))).is_damaged


def test_two_damaged_commits_are_counted_as_two(journal: SqliteJournal) -> None:
    """The end of the one, and the page by which the other could be told; the next page has a high number."""
    journal.append(make_records(1, 1_000))
    journal.checkpoint("TRUNCATE")
    data = grown(journal)
    begin, end = frame(data, -3) + 2_000, frame(data, -2) + wal.FRAME_HEADER_SIZE
    assert scan(changed(data, begin, bytes(end - begin))).is_damaged


@pytest.mark.parametrize("size", [1, 5, 200])
def test_the_pages_of_a_commit_are_in_order_and_meta_is_among_them(journal: SqliteJournal, size: int) -> None:
    """What the rule rests on, should a new SQLite do it in another way."""
    data = grown(journal, size=size)
    pages: list[int] = []
    for begin in range(wal.HEADER_SIZE, len(data), wal.FRAME_SIZE):
        page, commit = struct.unpack_from(">2I", data, begin)
        pages.append(page)
        if commit:
            assert pages == sorted(set(pages))
            assert META in pages
            pages = []
    assert pages == []


@pytest.mark.parametrize("place", range(wal.HEADER_SIZE))
def test_a_damaged_head_hides_every_commit(journal: SqliteJournal, place: int) -> None:
    one = grown(journal, commits=1)
    assert scan(flipped(one, place)).is_damaged
    assert not scan(flipped(one, place)[: frame(one, -1)]).is_damaged


def test_leftovers_of_an_older_wal_are_no_damage(journal: SqliteJournal) -> None:
    older = grown(journal)
    journal.checkpoint("PASSIVE")
    data = grown(journal, commits=1)
    assert len(data) == len(older), "the WAL began anew without being cut"
    assert scan(data) == wal.WalScan(kept=2, lost=0, has_valid_header=True)


def test_a_commit_torn_over_an_older_wal_is_no_damage(journal: SqliteJournal) -> None:
    older = grown(journal)
    journal.checkpoint("PASSIVE")
    data = grown(journal, commits=1, size=500)
    for number in range(2 * COMMITS):
        place = frame(older, number)
        found = scan(changed(data, place, older[place : place + wal.FRAME_SIZE]))
        assert not found.is_damaged
        assert found.kept == 0


@pytest.fixture(scope="module")
def image() -> Iterator[tuple[Path, bytes, bytes]]:
    """A folder to work in, and the two files as a crash leaves them."""
    with TemporaryDirectory() as name:
        path = Path(name) / "journal.db"
        with closing(open_journal_writer(path)) as journal:
            data = grown(journal)
            yield Path(name) / "copy.db", path.read_bytes(), data


@given(place=st.integers(0, 40_000), end=st.integers(0, 60_000))
def test_the_scan_keeps_the_frames_that_sqlite_keeps(image: tuple[Path, bytes, bytes], place: int, end: int) -> None:
    copy, data, log = image
    damaged = flipped(log, place % len(log))[:end]
    copy.write_bytes(data)
    find_wal(copy).write_bytes(damaged)
    with closing(sqlite3.connect(copy)) as db:
        db.execute("PRAGMA synchronous = OFF")
        _, frames, _ = db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    assert scan(damaged).kept == max(frames, 0)
