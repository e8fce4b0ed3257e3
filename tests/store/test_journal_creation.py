from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from stat import S_IMODE

import pytest

from plait.store.inbox import open_inbox
from plait.store.interfaces import JournalMissingError
from plait.store.journal_reader import open_journal_reader
from plait.store.journal_writer import open_journal_writer
from plait.testing.contracts.sample_records import make_records


def mode(path: Path) -> int:
    return S_IMODE(path.stat().st_mode)


def test_the_journal_is_readable_only_by_its_owner(path: Path) -> None:
    before = os.umask(0)
    try:
        with closing(open_journal_writer(path)) as journal, closing(open_inbox(path.with_name("inbox.db"))):
            journal.append(make_records(1, 1))
            assert mode(path.parent) == 0o700
            assert {mode(each) for each in path.parent.iterdir()} == {0o600}
            assert {each.name for each in path.parent.iterdir()} >= {"journal.db-wal", "inbox.db"}
    finally:
        os.umask(before)


def test_a_closed_journal_is_one_file_and_the_lock(path: Path) -> None:
    with closing(open_journal_writer(path)) as journal:
        journal.append(make_records(1, 9))
    assert {each.name for each in path.parent.iterdir()} == {"journal.db", "journal.db.lock"}


def test_leftovers_of_a_crash_at_creation_do_no_harm(path: Path) -> None:
    path.parent.mkdir()
    for name in ("journal.db.new", "journal.db.new-wal", "journal.db.new-journal", "journal.db.lock"):
        path.with_name(name).write_bytes(b"half a journal")
    path.with_name("journal.db.examined").mkdir()
    with closing(open_journal_writer(path)) as journal:
        journal.append(make_records(1, 1))
    with closing(open_journal_reader(path)) as reader:
        assert list(reader.read()) == make_records(1, 1)
    assert not list(path.parent.glob("*.new*"))


def test_a_reader_makes_nothing(path: Path) -> None:
    with pytest.raises(JournalMissingError):
        open_journal_reader(path)
    assert not path.parent.exists()


def test_a_closed_journal_can_be_continued(path: Path) -> None:
    with closing(open_journal_writer(path)) as journal:
        first = journal.id
        journal.append(make_records(1, 2))
        journal.commit({"slots": "4"})
    with closing(open_journal_writer(path)) as journal:
        assert journal.id == first
        assert journal.settings() == {"slots": "4"}
        journal.append(make_records(3, 3))
        assert list(journal.read()) == make_records(1, 3)


def test_a_path_may_hold_any_character(tmp_path: Path) -> None:
    path = tmp_path / "a b?c#d%41é[x]" / "journal.db"
    with closing(open_journal_writer(path)) as journal, closing(open_journal_reader(path)) as reader:
        journal.append(make_records(1, 1))
        assert reader.last() == 1
    assert path.is_file()


def test_a_commit_is_durable_when_it_returns(path: Path) -> None:
    with closing(open_journal_writer(path)) as journal:
        (synchronous,) = journal._db.execute("PRAGMA synchronous").fetchone()
        (mode,) = journal._db.execute("PRAGMA journal_mode").fetchone()
        assert (synchronous, mode) == (2, b"wal")


def test_the_file_has_an_application_id_and_a_version(path: Path) -> None:
    open_journal_writer(path).close()
    with closing(sqlite3.connect(path)) as db:
        (application,) = db.execute("PRAGMA application_id").fetchone()
        assert application.to_bytes(4, "big") == b"plaj"
        assert db.execute("PRAGMA user_version").fetchone() == db.execute("SELECT schema FROM meta").fetchone()
