"""Disks that are full, read-only or broken: a typed error, and nothing of the failed append."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from subprocess import Popen
from tempfile import mkdtemp

import pytest

from plait.core.requests import Feedback, Pause
from plait.store.inbox import open_inbox
from plait.store.interfaces import InboxError, JournalError, JournalFullError, JournalReadOnlyError
from plait.store.journal_reader import open_journal_reader
from plait.store.journal_writer import open_journal_writer
from plait.store.sqlite_files import find_wal
from plait.testing.contracts.sample_records import make_records

Child = Callable[..., Popen[str]]

NOBODY = 65534


@contextmanager
def nobody() -> Iterator[None]:
    """Root may write everywhere, so be somebody else for a while; anybody else is that already."""
    if os.geteuid():
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that everybody can get to."""
    folder = Path(mkdtemp())
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def test_a_full_disk_is_reported_and_nothing_is_kept(path: Path) -> None:
    with closing(open_journal_writer(path)) as journal:
        journal.append(make_records(1, 10))
        (pages,) = journal._db.execute("PRAGMA page_count").fetchone()
        journal._db.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(JournalFullError) as full:
            journal.append(make_records(11, 900))
        assert str(full.value) == (
            f"the disk is full: nothing was added to the journal {path}\n"
            "  free some space and start plait again; plait continues where it stopped"
        )
        assert list(journal.read()) == make_records(1, 10)

        journal._db.execute("PRAGMA max_page_count = 100000")
        journal.append(make_records(11, 900))
        with closing(open_journal_reader(path)) as reader:
            assert list(reader.read()) == make_records(1, 900)


def test_a_failed_append_leaves_nothing_in_the_wal(path: Path) -> None:
    with closing(open_journal_writer(path)) as journal:
        journal.append(make_records(1, 1))
        before = find_wal(path).read_bytes()
        (pages,) = journal._db.execute("PRAGMA page_count").fetchone()
        journal._db.execute(f"PRAGMA max_page_count = {pages + 700}")
        with pytest.raises(JournalFullError):
            journal.append(make_records(2, 60_000))
        assert find_wal(path).read_bytes() == before


def test_an_append_that_fails_half_way_leaves_nothing(path: Path) -> None:
    """The second record has no time: SQLite keeps NaN as NULL, and the table forbids that."""
    with closing(open_journal_writer(path)) as journal:
        first, second = make_records(1, 2)
        with pytest.raises(JournalError, match="NOT NULL constraint failed"):
            journal.append([first, replace(second, at=float("nan"))])
        assert journal.last() == 0
        journal.append([first, second])
        assert list(journal.read()) == [first, second]


def test_a_full_disk_is_reported_by_the_inbox(path: Path) -> None:
    with closing(open_inbox(path)) as inbox:
        inbox.put(Pause("1", "b"))
        (pages,) = inbox._db.execute("PRAGMA page_count").fetchone()
        inbox._db.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(InboxError) as full:
            inbox.put(Feedback("2", "b", "t", "long " * 5_000))
        assert str(full.value) == (
            f"the inbox {path} is on a full disk (database or disk is full)\n  free some space and ask again"
        )
        inbox.put(Pause("3", "b"))
        assert list(inbox.pending()) == [Pause("1", "b"), Pause("3", "b")]


def test_an_append_to_a_really_full_disk_leaves_nothing(tmp_path: Path, child: Child) -> None:
    """The same with a small file system of its own, where one may be mounted."""
    mount = f"mount -t tmpfs -o size=400k none '{tmp_path}'"
    through = ("unshare", "--user", "--map-root-user", "--mount", "sh", "-c")
    tried = subprocess.run(["env", *through, mount], check=False, capture_output=True)
    if tried.returncode:
        pytest.skip("mounting is not permitted here")
    filling = child("fill", tmp_path / "state" / "journal.db", through=(*through, f'{mount} && exec "$@"', "sh"))
    assert filling.communicate()[0].split() == ["JournalFullError", "True", "True"]


def test_a_disk_error_makes_the_journal_uncertain(path: Path) -> None:
    """A limit on the size of files makes write(2) fail: SQLite can't know what has reached the disk."""
    with closing(open_journal_writer(path)) as journal:
        journal.append(make_records(1, 2))
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (find_wal(path).stat().st_size, hard))
        try:
            with pytest.raises(JournalError, match="disk I/O error"):
                journal.append(make_records(3, 4))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        with pytest.raises(JournalError) as uncertain:
            journal.append(make_records(3, 4))
        assert str(uncertain.value) == (
            f"the journal {path} had a disk error: whether its last append was kept is not known\n"
            "  check the disk and the system's log, then start plait again: it reads what is there"
        )
    with closing(open_journal_writer(path)) as journal:
        assert list(journal.read()) == make_records(1, 2)
        journal.append(make_records(3, 4))


def test_an_unwritable_folder_is_refused_with_a_hint(public: Path) -> None:
    public.chmod(0o555)
    path = public / "state" / "journal.db"
    with nobody(), pytest.raises(JournalReadOnlyError) as refused:
        open_journal_writer(path)
    assert str(refused.value) == (
        f"the journal {path} can't be written: Permission denied ({path.parent})\n"
        "  check the owner and the mode of the file and its folder, and whether the disk is mounted read-only"
    )
    with nobody(), pytest.raises(InboxError, match="can't be written"):
        open_inbox(path)


@pytest.mark.parametrize("folder_mode", [0o555, 0o777])
def test_an_unwritable_file_is_refused_with_a_hint(public: Path, folder_mode: int) -> None:
    path = public / "journal.db"
    with closing(open_journal_writer(path)) as journal:
        journal.append(make_records(1, 3))
    (public / "journal.db.lock").chmod(0o666)
    path.chmod(0o444)
    public.chmod(folder_mode)
    before = path.read_bytes()
    with nobody():
        with pytest.raises(JournalReadOnlyError, match=r"can't be written: .*\n  check the owner"):
            open_journal_writer(path)
        assert path.read_bytes() == before
    assert {each.name for each in public.iterdir()} <= {
        "journal.db",
        "journal.db.lock",
        "journal.db-shm",
        "journal.db-wal",
    }


@pytest.mark.parametrize("what", ["journal.db", "."])
def test_an_unreadable_journal_is_reported(public: Path, what: str) -> None:
    path = public / "journal.db"
    with closing(open_journal_writer(path)) as journal:
        journal.append(make_records(1, 3))
    (public / "journal.db.lock").chmod(0o666)
    (public / what).chmod(0)
    with nobody():
        with pytest.raises(JournalError, match=r"can't be (used|read here): .*\n  (check the disk|check the owner)"):
            open_journal_reader(path)
        with pytest.raises(JournalReadOnlyError, match="Permission denied"):
            open_journal_writer(path)


def test_a_journal_in_a_read_only_folder_is_not_called_damaged(public: Path) -> None:
    path = public / "journal.db"
    with closing(open_journal_writer(path)) as journal:
        journal.append(make_records(1, 3))
    for each in public.iterdir():
        each.chmod(0o444)
    public.chmod(0o555)
    with nobody(), pytest.raises(JournalReadOnlyError, match=r"can't be read here: .*\n  check the owner"):
        open_journal_reader(path).close()


def test_an_unwritable_inbox_is_reported(public: Path) -> None:
    path = public / "inbox.db"
    open_inbox(path).close()
    path.chmod(0o444)
    public.chmod(0o777)
    with nobody(), closing(open_inbox(path)) as inbox, pytest.raises(InboxError) as refused:
        inbox.put(Pause("1", "b"))
    assert str(refused.value) == (
        f"the inbox {path} can't be written (attempt to write a readonly database)\n"
        "  check the owner and the mode of the file and its folder"
    )
