"""Reading a journal, by any process at any time: no lock, and no transaction longer than a page of records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

from plait.core.events import Record
from plait.store import checksums, codec, error_mapping, journal_lock, sqlite_files, verification
from plait.store.interfaces import JournalCorruptError, JournalError, JournalMissingError
from plait.store.schema import SELECT_CHECK, SELECT_RECORDS_AFTER

# Records in memory at a time. A checkpoint waits for readers, so a page is over in milliseconds.
PAGE_RECORDS = 256
PAGE_BYTES = 1_000_000


def open_journal_reader(path: Path) -> SqliteJournalReader:
    """Open a reader; raises JournalMissingError if nothing has been written yet."""
    path = path.resolve()
    with error_mapping.map_read_errors(path):
        verification.verify_presence(path)
        if not path.exists():
            raise JournalMissingError(
                f"there is no journal at {path} yet", hint="it is created when the first batch is submitted"
            )
        _verify_if_idle(path)
        connection = sqlite_files.connect(path, "mode=ro")
    try:
        return SqliteJournalReader(path, connection)
    except BaseException:
        connection.close()
        raise


def _verify_if_idle(path: Path) -> None:
    """Verify the journal unless it has a writer, which has verified it already, and changes it meanwhile."""
    if journal_lock.is_locked(path):
        return
    try:
        with error_mapping.map_read_errors(path):
            verification.verify_idle_journal(path)
    except JournalCorruptError:
        if not journal_lock.is_locked(path):
            raise


def verify_for_writing(path: Path) -> None:
    """Raise JournalCorruptError if an engine would refuse this journal. Not to be called in a process that has it open.

    A journal with a writer, or with a WAL, is not read: verifying that takes a copy of both, and the lock.
    """
    path = path.resolve()
    if journal_lock.is_locked(path) or sqlite_files.measure_file(sqlite_files.find_wal(path)):
        return
    try:
        with error_mapping.map_read_errors(path):
            verification.verify_journal(path)
    except JournalCorruptError:
        if not journal_lock.is_locked(path):
            raise


class SqliteJournalReader:
    """A JournalReader for SQLite. Use it from the thread that opened it."""

    def __init__(self, path: Path, connection: sqlite_files.Connection) -> None:
        self._path = path
        self._db = connection
        self._file = sqlite_files.identify_file(path)
        self._id = self._read_head().id
        self._open = True
        sqlite_files.count_open(self._file, 1)

    @property
    def id(self) -> str:
        return self._id

    def last(self) -> int:
        return self._read_head().last

    def read(self, after: int = 0) -> Iterator[Record]:
        head = self._read_head()
        return self._read_pages(after, head) if after < head.last else iter(())

    def wait(self, after: int, timeout: float) -> bool:
        try:
            with error_mapping.map_read_errors(self._path):
                found = sqlite_files.wait_for_change(self._db, lambda: self.last() > after, timeout)
        except JournalError:
            self._check_not_replaced()  # if it can't be read any more, it may have been replaced
            raise
        if not found:
            self._check_not_replaced()
        return found

    def settings(self) -> Mapping[str, str]:
        with error_mapping.map_read_errors(self._path):
            self._db.execute("BEGIN")
            try:
                return verification.read_settings(self._path, self._db, self._read_head())
            finally:
                self._db.execute("COMMIT")

    def close(self) -> None:
        self._db.close()
        if self._open:
            self._open = False
            sqlite_files.count_open(self._file, -1)

    def _check_not_replaced(self) -> None:
        """Raise JournalMissingError if the file was moved away: it would never get another record."""
        if sqlite_files.find_identity(self._path) != self._file:
            raise JournalMissingError(f"the journal {self._path} was moved away or replaced", hint="open it again")

    def _read_head(self) -> checksums.JournalHead:
        with error_mapping.map_read_errors(self._path):
            return verification.read_head(self._path, self._db)

    def _read_pages(self, after: int, head: checksums.JournalHead) -> Iterator[Record]:
        tip = self._read_check(after, head)
        while after < head.last:
            page, tip = self._read_page(after, head.last, tip)
            yield from page
            after += len(page)
        if tip != head.tip:
            raise error_mapping.build_corrupt_error(self._path, f"record {head.last} is not the one that was written")

    def _read_check(self, seq: int, head: checksums.JournalHead) -> bytes:
        if not seq:
            return checksums.compute_genesis(head.id)
        with error_mapping.map_read_errors(self._path):
            row = self._db.execute(SELECT_CHECK, (seq,)).fetchone()
        if row is None or not isinstance(row[0], bytes):
            raise error_mapping.build_corrupt_error(self._path, f"record {seq} is missing")
        return row[0]

    def _read_page(self, after: int, until: int, tip: bytes) -> tuple[list[Record], bytes]:
        with error_mapping.map_read_errors(self._path):
            rows = self._read_rows(after, until)
        if not rows:
            raise error_mapping.build_corrupt_error(self._path, f"record {after + 1} is missing")
        records = []
        for seq, row in enumerate(rows, after + 1):
            if not checksums.is_next_link(row, tip, seq):
                raise error_mapping.build_corrupt_error(self._path, f"record {seq} is not the one that was written")
            records.append(self._decode(row))
            tip = row[5]
        return records, tip

    def _read_rows(self, after: int, until: int) -> list[checksums.RecordRow]:
        """Read as many rows as fit a page, by number and by size; at least one."""
        rows, size = list[checksums.RecordRow](), 0
        with closing(self._db.execute(SELECT_RECORDS_AFTER, (after, until, PAGE_RECORDS))) as cursor:
            for row in cursor:
                rows.append(row)
                size += len(row[4]) if isinstance(row[4], bytes) else 0
                if size > PAGE_BYTES:
                    break
        return rows

    def _decode(self, row: checksums.RecordRow) -> Record:
        seq, at, version, kind, event, _ = row
        try:
            return Record(seq, at, codec.decode_event(kind.decode(), event, version))
        except codec.NewerFormatError as error:
            what = f"record {seq} has format {version}; this one knows {codec.VERSION}"
            raise error_mapping.build_newer_error(self._path, what) from error
        except codec.UnreadableEventError as error:
            raise error_mapping.build_corrupt_error(self._path, f"record {seq}: {error}") from error
