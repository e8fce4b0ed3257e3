"""What a second look found: locks, paths, threads, texts and sizes that nobody thought of at first."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from threading import Thread, Timer

import pytest

from plait.core.decisions import BatchHalted
from plait.core.events import Record
from plait.core.requests import Feedback, Pause
from plait.store import journal_lock, sqlite_files
from plait.store.inbox import open_inbox
from plait.store.interfaces import InboxError, JournalBusyError, JournalError, JournalMissingError
from plait.store.journal_reader import PAGE_BYTES, open_journal_reader
from plait.store.journal_writer import open_journal_writer
from plait.testing.contracts.sample_records import make_records


def written(path: Path, count: int = 3) -> None:
    with closing(open_journal_writer(path)) as journal:
        journal.append(make_records(1, count))


def test_a_writer_is_not_opened_beside_a_reader_of_the_same_process(path: Path) -> None:
    """Examining the file would drop the locks of the reader, and SQLite would not know."""
    written(path)
    with (
        closing(open_journal_reader(path)),
        pytest.raises(JournalBusyError, match="open for reading in this process"),
    ):
        open_journal_writer(path)
    with closing(open_journal_writer(path)) as journal, closing(open_journal_reader(path)) as reader:
        journal.append(make_records(4, 4))
        assert reader.last() == 4


def test_two_names_of_one_journal_are_one_journal(tmp_path: Path) -> None:
    path, other = tmp_path / "a" / "journal.db", tmp_path / "b" / "journal.db"
    written(path)
    other.parent.mkdir()
    other.symlink_to(path)
    with (
        closing(open_journal_writer(path)),
        pytest.raises(JournalBusyError, match="is being written by process"),
    ):
        open_journal_writer(other)


def test_a_lock_on_a_removed_file_does_not_count(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = journal_lock._open
    removals = [path]

    def removed_meanwhile(where: Path) -> int:
        fd = opened(where)
        if removals:
            journal_lock.find_lock_file(removals.pop()).unlink()
        return fd

    monkeypatch.setattr(journal_lock, "_open", removed_meanwhile)
    held = journal_lock.acquire_lock(path)
    assert journal_lock.is_locked(path)
    held.release()


def test_a_writer_whose_lock_file_was_removed_stops_writing(path: Path) -> None:
    with closing(open_journal_writer(path)) as journal:
        journal.append(make_records(1, 3))
        journal_lock.find_lock_file(path).unlink()
        with pytest.raises(JournalBusyError, match=r"was removed.*\n  nothing was added"):
            journal.append(make_records(4, 4))
        assert journal.last() == 3


def test_a_stale_pid_in_the_lock_is_ignored(path: Path) -> None:
    written(path)
    journal_lock.find_lock_file(path).write_text("1\n")  # alive, and innocent
    fd = os.open(journal_lock.find_lock_file(path), os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_SH)  # a reader asks, for a moment
    asked = Timer(0.02, os.close, [fd])
    asked.start()
    with closing(open_journal_writer(path)) as journal:
        assert journal.last() == 3
    asked.join()


def test_a_stuck_reader_is_reported(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(open_journal_writer(path)) as journal:
        journal.append(make_records(1, 3))
        stopped = sqlite_files.connect(path, "mode=ro")
        stopped.execute("BEGIN")
        stopped.execute("SELECT * FROM records").fetchone()
        journal._db.execute("PRAGMA busy_timeout = 0")
        journal.append(make_records(4, 4))
    monkeypatch.setattr(sqlite_files, "BUSY_TIMEOUT_SECONDS", 0.05)
    monkeypatch.setattr(sqlite_files.connect, "__kwdefaults__", {"timeout": 0.05})
    try:
        with pytest.raises(JournalBusyError, match=r"for seconds\n  look for a plait process"):
            open_journal_writer(path)
    finally:
        stopped.close()
    with closing(open_journal_writer(path)) as journal:
        assert journal.last() == 4


def test_a_replaced_journal_is_noticed(path: Path) -> None:
    written(path)
    with closing(open_journal_reader(path)) as reader:
        for each in list(path.parent.iterdir()):
            each.rename(each.with_name(f"old-{each.name}"))
        with pytest.raises(JournalMissingError, match=r"was moved away or replaced\n  open it again"):
            reader.wait(3, 0.01)


def test_a_misuse_of_sqlite_is_not_reported_as_damage(path: Path) -> None:
    written(path)
    reader = open_journal_reader(path)
    reader.close()
    with pytest.raises(sqlite3.ProgrammingError, match="closed"):
        reader.last()
    raised: list[type[BaseException]] = []
    with closing(open_journal_reader(path)) as other:

        def elsewhere() -> None:
            try:
                other.last()
            except sqlite3.ProgrammingError as error:
                raised.append(type(error))

        thread = Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert raised == [sqlite3.ProgrammingError]


def test_invalid_text_is_refused_with_a_message(path: Path) -> None:
    bad = "a file called \udcff"
    with closing(open_journal_writer(path)) as journal:
        with pytest.raises(JournalError, match=r"nothing was added .* isn't valid text"):
            journal.append([Record(1, 1.0, Pause("r", bad))])
        with pytest.raises(JournalError, match="isn't valid text"):
            journal.commit({"name": bad})
        journal.append(make_records(1, 1))
    with closing(open_inbox(path.with_name("inbox.db"))) as inbox:
        for request in (Pause(bad, "b"), Feedback("r", "b", "t", bad)):
            with pytest.raises(InboxError, match="isn't valid text"):
                inbox.put(request)
        assert inbox.pending() == ()


def test_a_page_is_bounded_by_size(path: Path) -> None:
    long = "x" * PAGE_BYTES
    kept = [Record(seq, 1.0, BatchHalted("b", "t", long)) for seq in range(1, 6)]
    with closing(open_journal_writer(path)) as journal:
        journal.append(kept)
        assert [len(journal._read_rows(after, 5)) for after in range(5)] == [1, 1, 1, 1, 1]
        assert list(journal.read()) == kept


def test_paths_with_odd_names_work(tmp_path: Path) -> None:
    for name in ("with space", "quer?y", "ha#sh", "per%20cent", "ümlaut"):
        path = tmp_path / name / "journal.db"
        written(path)
        with closing(open_journal_reader(path)) as reader:
            assert reader.last() == 3


def test_a_client_that_stopped_inside_a_transaction_is_an_error_that_can_be_retried(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("plait.store.inbox.ENGINE_TIMEOUT_SECONDS", 0.05)
    with closing(open_inbox(path)) as inbox, closing(sqlite3.connect(path, isolation_level=None)) as front:
        inbox.put(Pause("r", "b"))
        front.execute("BEGIN IMMEDIATE")
        with pytest.raises(InboxError, match="stayed locked"):
            inbox.mark_taken(["r"])
        front.execute("ROLLBACK")
        inbox.mark_taken(["r"])
        assert inbox.pending() == ()
