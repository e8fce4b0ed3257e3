"""Every refusal: what it says, and that it changes nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from plait.store import checksums, codec
from plait.store.interfaces import JournalCorruptError, JournalError, JournalMissingError, JournalNewerError
from plait.store.journal_reader import open_journal_reader
from plait.store.journal_writer import open_journal_writer
from plait.store.schema import PAGE_SIZE
from plait.store.sqlite_files import find_wal
from plait.testing.contracts.sample_records import make_records

LEFT = (
    "the file was not changed; restore it from a backup, or move it and the files named like it away "
    "to begin a new one (batches are forgotten, their branches stay)"
)
AWAY = "restore it from a backup, or move it away: plait starts without its history, and results stay on their branches"
BEHIND = "before records that were committed"
UPGRADE = "the file was not changed; upgrade plait, or use the version that wrote it"

Spoil = Callable[[Path], None]


def made(path: Path) -> None:
    with closing(open_journal_writer(path)) as journal:
        journal.append(make_records(1, 5))
        journal.commit({"slots": "4"})


def by_sql(statement: str) -> Spoil:
    def spoil(path: Path) -> None:
        made(path)
        with closing(sqlite3.connect(path)) as db, db:
            db.execute(statement)

    return spoil


def by_bytes(data: bytes) -> Spoil:
    def spoil(path: Path) -> None:
        path.parent.mkdir()
        path.write_bytes(data)

    return spoil


def without_the_file(path: Path) -> None:
    crash(path, lambda data: data)
    path.unlink()


def crash(path: Path, spoil: Callable[[bytes], bytes]) -> None:
    """Leave the files as a crash would, the WAL with a change."""
    with closing(open_journal_writer(path)) as journal:
        for seq in range(1, 6):
            journal.append(make_records(seq, seq))
        files = path.read_bytes(), spoil(find_wal(path).read_bytes())
    path.write_bytes(files[0])
    find_wal(path).write_bytes(files[1])


def a_newer_record(path: Path) -> None:
    """As a newer plait would add it, with everything in order."""
    made(path)
    with closing(sqlite3.connect(path)) as db, db:
        id_, schema, last, tip, settings = db.execute("SELECT id, schema, last, tip, settings FROM meta").fetchone()
        content = (last + 1, 0.0, codec.VERSION + 1, b"new-kind", b"{}")
        tip = checksums.compute_link(tip, content)
        head = checksums.JournalHead(id_, schema, last + 1, tip, settings)
        row = (last + 1, 0.0, codec.VERSION + 1, "new-kind", b"{}", tip)
        db.execute("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)", row)
        db.execute("UPDATE meta SET last = ?, tip = ?, seal = ?", (head.last, head.tip, head.seal))


def flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


CASES: dict[str, tuple[Spoil, str, str]] = {
    "text": (
        by_bytes(b"dear diary\n" * 100),
        "{path} is not a plait journal: it isn't a SQLite database",
        AWAY,
    ),
    "empty": (by_bytes(b""), "{path} is not a plait journal: it is empty", AWAY),
    "a folder": (lambda path: path.mkdir(parents=True), "{path} is not a plait journal: it is not a file", AWAY),
    "foreign": (
        by_sql("PRAGMA application_id = 7"),
        "{path} is not a plait journal: it is a database of another program",
        AWAY,
    ),
    "newer schema": (
        by_sql("PRAGMA user_version = 2"),
        "the journal {path} was written by a newer plait (schema 2; this one knows 1)",
        UPGRADE,
    ),
    "newer record": (
        a_newer_record,
        (
            f"the journal {{path}} was written by a newer plait (record 6 has format {codec.VERSION + 1}; "
            f"this one knows {codec.VERSION})"
        ),
        UPGRADE,
    ),
    "changed record": (
        by_sql("UPDATE records SET kind = 'stop' WHERE seq = 3"),
        "the journal {path} is damaged: record 3 is not the one that was written",
        LEFT,
    ),
    "lost record": (
        by_sql("DELETE FROM records WHERE seq = 3"),
        "the journal {path} is damaged: record 3 is not the one that was written",
        LEFT,
    ),
    "changed head": (
        by_sql("UPDATE meta SET last = 4"),
        "the journal {path} is damaged: its head is not the one that was written",
        LEFT,
    ),
    "changed wal": (
        lambda path: crash(path, lambda data: flipped(data, 20_000)),
        "the journal {path} is damaged: bytes have changed after frame 4 of its -wal file, " + BEHIND,
        LEFT,
    ),
    "changed head of the wal": (
        lambda path: crash(path, lambda data: flipped(data, 20)),
        "the journal {path} is damaged: bytes have changed in the head of its -wal file, " + BEHIND,
        LEFT,
    ),
    "only a wal": (
        without_the_file,
        "the journal {path} is damaged: the file is gone, and only its -wal file is left",
        LEFT,
    ),
}


def contents(folder: Path) -> dict[str, bytes | None]:
    return {each.name: each.read_bytes() if each.is_file() else None for each in folder.iterdir()}


def read_all(path: Path) -> None:
    with closing(open_journal_reader(path)) as reader:
        list(reader.read())


def write(path: Path) -> None:
    open_journal_writer(path).close()


@pytest.mark.parametrize("use", [read_all, write])
@pytest.mark.parametrize("case", CASES)
def test_a_refusal_says_why_and_changes_nothing(path: Path, use: Callable[[Path], None], case: str) -> None:
    spoil, message, hint = CASES[case]
    spoil(path)
    before = contents(path.parent)
    with pytest.raises((JournalCorruptError, JournalNewerError)) as refused:
        use(path)
    assert str(refused.value) == f"{message.format(path=path)}\n  {hint}"
    assert refused.type is (JournalNewerError if "newer" in case else JournalCorruptError)
    # A reader finds a wrong record only by reading, and SQLite reads with two small files beside the journal.
    allowed = {"journal.db.lock", "journal.db-shm", "journal.db-wal"}
    after = contents(path.parent)
    assert {name: data for name, data in after.items() if name in before} == before
    assert after.keys() - before.keys() <= (allowed if use is read_all else {"journal.db.lock"})


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("DELETE FROM records WHERE seq = 5", "it ends after record 4, but record 5 was written"),
        ("DELETE FROM records", "it ends after record 0, but record 5 was written"),
        ("UPDATE settings SET value = '5'", "its settings are not the ones that were saved"),
        ("DELETE FROM settings", "its settings are not the ones that were saved"),
        ("DELETE FROM meta", "its head can't be read"),
        ("DROP TABLE settings", "SQLite says: no such table: settings"),
    ],
)
def test_a_writer_notices_missing_records(path: Path, statement: str, what: str) -> None:
    by_sql(statement)(path)
    with pytest.raises(JournalCorruptError) as refused:
        open_journal_writer(path)
    assert refused.value.message == f"the journal {path} is damaged: {what}"


def test_a_writer_also_verifies_the_pages_of_the_file(path: Path) -> None:
    """Space that is counted wrong loses nothing yet, but would when the next record is put there."""
    made(path)
    with closing(sqlite3.connect(path)) as db:
        (page,) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'records'").fetchone()
    fragmented = (page - 1) * PAGE_SIZE + 7
    path.write_bytes(flipped(path.read_bytes(), fragmented))
    with pytest.raises(JournalCorruptError, match="SQLite says: Fragmentation of 0 bytes reported as 1"):
        open_journal_writer(path)
    with closing(open_journal_reader(path)) as reader:
        assert list(reader.read()) == make_records(1, 5)


def test_a_reader_notices_a_missing_last_record(path: Path) -> None:
    by_sql("DELETE FROM records WHERE seq = 5")(path)
    with (
        closing(open_journal_reader(path)) as reader,
        pytest.raises(JournalCorruptError, match="record 5 is missing"),
    ):
        list(reader.read(after=4))


def test_a_replaced_last_record_is_noticed(path: Path) -> None:
    made(path)
    with closing(sqlite3.connect(path)) as db, db:
        (before,) = db.execute('SELECT "check" FROM records WHERE seq = 4').fetchone()
        check = checksums.compute_link(before, (5, 0.0, codec.VERSION, b"engine-released", b'{"pid":5}'))
        row = (0.0, "engine-released", b'{"pid":5}', check)
        db.execute('UPDATE records SET at = ?, kind = ?, event = ?, "check" = ? WHERE seq = 5', row)
    with (
        closing(open_journal_reader(path)) as reader,
        pytest.raises(JournalCorruptError, match="record 5 is not"),
    ):
        list(reader.read())


def test_a_reader_checks_from_where_it_reads(path: Path) -> None:
    """What was damaged before is not its business; the record it reads on from is only where the chain goes on."""
    by_sql("UPDATE records SET kind = 'stop' WHERE seq = 2")(path)
    with closing(open_journal_reader(path)) as reader:
        assert list(reader.read(after=3)) == make_records(4, 5)
        with pytest.raises(JournalCorruptError, match="record 2 is not"):
            list(reader.read(after=1))


def test_a_missing_journal_is_reported(path: Path) -> None:
    with pytest.raises(JournalMissingError) as missing:
        open_journal_reader(path)
    assert str(missing.value) == f"there is no journal at {path} yet\n  it is created when the first batch is submitted"


def test_a_gap_in_the_records_is_refused(path: Path) -> None:
    with closing(open_journal_writer(path)) as journal, pytest.raises(JournalError) as gap:
        journal.append(make_records(3, 3))
    assert str(gap.value) == (
        f"record 3 does not follow the journal's last one: 1 is next in {path}\n"
        "  another engine may have written meanwhile; read the journal again"
    )


def truncate(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(0)


def cut(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(PAGE_SIZE)


def overwrite(path: Path) -> None:
    copy = path.read_bytes()
    path.write_bytes(copy)


def truncate_wal(path: Path) -> None:
    truncate(find_wal(path))


def delete_wal(path: Path) -> None:
    find_wal(path).unlink()


def move_away(path: Path) -> None:
    path.rename(path.with_name("moved"))


@pytest.mark.parametrize("spoil", [truncate, cut, overwrite, truncate_wal, delete_wal, move_away])
def test_a_journal_that_another_program_changes_under_its_writer_takes_no_more_records(
    tmp_path: Path, spoil: Spoil
) -> None:
    path = tmp_path / "state" / "journal.db"
    with closing(open_journal_writer(path)) as journal:
        journal.append(make_records(1, 5))
        journal.checkpoint("PASSIVE")
        journal.append(make_records(6, 8))
        spoil(path)
        for _ in range(2):
            with pytest.raises(JournalError, match=r"truncated or overwritten|moved away or replaced"):
                journal.append(make_records(9, 10))
