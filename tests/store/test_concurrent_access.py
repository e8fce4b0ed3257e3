"""One writer, many readers, in processes of their own."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random
from subprocess import Popen
from threading import Timer
from time import monotonic

import pytest

from plait.store import journal_lock, sqlite_files, wal
from plait.store.interfaces import JournalBusyError
from plait.store.journal_reader import open_journal_reader
from plait.store.journal_writer import open_journal_writer
from plait.store.sqlite_files import find_wal
from plait.testing.contracts.sample_records import make_records

Child = Callable[..., Popen[str]]


def test_a_second_writer_gets_the_pid_of_the_first(path: Path, child: Child) -> None:
    first = child("hold", path)
    assert first.stdout
    assert first.stdout.readline() == "held\n"
    with pytest.raises(JournalBusyError) as busy:
        open_journal_writer(path)
    assert str(busy.value) == (
        f"the journal {path} is being written by process {first.pid}\n"
        "  a journal has one writer: ask the engine that runs already, or stop it first"
    )
    first.communicate()
    open_journal_writer(path).close()


def test_a_killed_writer_releases_the_lock(path: Path, child: Child) -> None:
    first = child("hold", path)
    assert first.stdout
    assert first.stdout.readline() == "held\n"
    assert journal_lock.is_locked(path)
    first.kill()
    first.wait()
    assert not journal_lock.is_locked(path)
    open_journal_writer(path).close()


def test_a_refusal_releases_the_lock(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"no journal")
    for _ in range(2):
        with pytest.raises(Exception, match="is not a plait journal"):
            open_journal_writer(path)
    assert not journal_lock.is_locked(path)


def test_a_second_writer_in_the_same_process_is_refused_too(path: Path) -> None:
    with closing(open_journal_writer(path)), pytest.raises(JournalBusyError, match=str(os.getpid())):
        open_journal_writer(path)


def test_a_reader_that_checks_the_lock_does_not_block_a_writer(path: Path) -> None:
    path.parent.mkdir()
    fd = os.open(journal_lock.find_lock_file(path), os.O_RDONLY | os.O_CREAT)
    fcntl.flock(fd, fcntl.LOCK_SH)
    asked = Timer(0.05, os.close, [fd])
    asked.start()
    with closing(open_journal_writer(path)) as journal:
        assert journal.last() == 0
    asked.join()


def test_readers_in_other_processes_see_each_record_once_and_in_order(path: Path, child: Child) -> None:
    total, last, chance = 300, 0, Random(5)
    with closing(open_journal_writer(path)) as journal:
        # Often enough for many checkpoints while they read.
        journal._db.execute("PRAGMA wal_autocheckpoint = 10")
        readers = [child("tail", path, total) for _ in range(3)]
        for reader in readers:
            assert reader.stdout
            assert reader.stdout.readline() == "ready\n"
        while last < total:
            size = min(chance.randrange(1, 6), total - last)
            journal.append(make_records(last + 1, last + size))
            last += size
        for reader in readers:
            assert [int(line) for line in reader.communicate()[0].split()] == list(range(1, total + 1))
            assert reader.returncode == 0


def test_a_writer_begins_with_an_empty_wal(path: Path) -> None:
    """What a crash left at its end would otherwise be behind new commits, and look like damage after the next crash."""
    with closing(open_journal_writer(path)) as journal:
        for seq in range(1, 4):
            journal.append(make_records(seq, seq))
        left = path.read_bytes(), find_wal(path).read_bytes()
    path.write_bytes(left[0])
    find_wal(path).write_bytes(left[1][: -wal.FRAME_SIZE // 2])
    with closing(open_journal_writer(path)) as journal:
        assert find_wal(path).stat().st_size == 0
        assert list(journal.read()) == make_records(1, 2)


def test_the_wal_stays_small(path: Path) -> None:
    with closing(open_journal_writer(path)) as journal:
        journal._db.execute("PRAGMA wal_autocheckpoint = 10")
        for seq in range(1, 40):
            journal.append(make_records(seq, seq))
            assert find_wal(path).stat().st_size < 12 * wal.FRAME_SIZE


def test_a_stuck_reader_does_not_prevent_appending(path: Path) -> None:
    with closing(open_journal_writer(path)) as journal:
        journal._db.execute("PRAGMA wal_autocheckpoint = 4")
        journal.append(make_records(1, 1))
        with closing(open_journal_reader(path)) as reader:
            reader._db.execute("BEGIN")
            assert reader.last() == 1
            began = monotonic()
            for seq in range(2, 30):
                journal.append(make_records(seq, seq))
            assert monotonic() - began < sqlite_files.BUSY_TIMEOUT_SECONDS, "not even one checkpoint waited for it"
            assert reader.last() == 1
            reader._db.execute("COMMIT")
            assert list(reader.read()) == make_records(1, 29)
        journal.append(make_records(30, 30))
        grown = find_wal(path).stat().st_size
        for seq in range(31, 50):
            journal.append(make_records(seq, seq))
        assert find_wal(path).stat().st_size == grown, "the WAL begins anew when the reader has let go"
