"""Writing a journal: by one process, one commit per append, durable when it returns."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from plait.core.events import Record
from plait.core.fast_dataclass import dataclass
from plait.core.settings import merge_saved_settings
from plait.store import checksums, codec, error_mapping, journal_lock, schema, sqlite_files
from plait.store.interfaces import JournalBusyError, JournalCorruptError, JournalError, JournalGapError
from plait.store.journal_reader import SqliteJournalReader
from plait.store.verification import verify_journal, verify_presence

# A row as it goes in: the text of `kind` comes out as bytes.
NewRow = tuple[int, float, int, str, bytes, bytes]


def open_journal_writer(path: Path) -> SqliteJournal:
    """Open the journal, create it if there is none, or refuse and change nothing."""
    path = path.resolve()
    held = journal_lock.acquire_lock(path)
    try:
        with error_mapping.map_write_errors(path):
            verify_presence(path)
            if path.exists():
                _refuse_open_reader(path)
                verify_journal(path)
            else:
                sqlite_files.create_database(path, schema.JOURNAL_APPLICATION_ID, schema.JOURNAL_TABLES, _insert_head)
            return SqliteJournal(path, _connect(path), held)
    except BaseException:
        held.release()
        raise


def _refuse_open_reader(path: Path) -> None:
    """Raise JournalBusyError if this process reads the journal: verification closes a descriptor of the file, which in
    POSIX drops this process's locks on it.
    """
    if sqlite_files.is_open(path):
        raise JournalBusyError(
            f"the journal {path} is open for reading in this process",
            hint="close the reader, open the writer, then read through it or open a reader again",
        )


def _insert_head(connection: sqlite_files.Connection) -> None:
    id_ = uuid4().hex
    head = checksums.JournalHead(
        id_, schema.SCHEMA_VERSION, 0, checksums.compute_genesis(id_), checksums.digest_settings({})
    )
    connection.execute(schema.INSERT_HEAD, (head.id, head.schema, head.last, head.tip, head.settings, head.seal))


def _connect(path: Path) -> sqlite_files.Connection:
    connection = sqlite_files.connect(path, "mode=rw")
    try:
        sqlite_files.make_durable(connection)
        # wal.py relies on this: the WAL contains only complete transactions, and is empty at first, even after a crash.
        connection.execute("PRAGMA cache_spill = OFF")
        (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise JournalBusyError(  # noqa: TRY301 - the connection is closed below, as for every error
                f"another process has been reading the journal {path} for seconds",
                hint="look for a plait process that is stopped, or a database browser, and end it",
            )
        # SQLite opens a read-only file without an error, and even begins a transaction.
        connection.execute(schema.BEGIN)
        connection.execute(schema.TOUCH_HEAD)
        connection.execute("ROLLBACK")
    except BaseException:
        connection.close()
        raise
    return connection


@dataclass(frozen=True, slots=True)
class _FileStamp:
    """Properties of the journal's files that only the writer changes. The main file is written by checkpoints, which
    are part of a commit.
    """

    size: int
    modified_at: int  # nanoseconds
    wal: tuple[int, int]
    wal_size: int

    @classmethod
    def read(cls, path: Path) -> _FileStamp:
        found, wal_path = path.stat(), sqlite_files.find_wal(path)
        wal = sqlite_files.find_identity(wal_path) or (0, 0)
        return cls(found.st_size, found.st_mtime_ns, wal, sqlite_files.measure_file(wal_path))

    def continues(self, earlier: _FileStamp) -> bool:
        """Whether no other program wrote, truncated or replaced a file. A WAL never becomes shorter while it is in use."""
        same_wal = self.wal == earlier.wal and self.wal_size >= earlier.wal_size
        return same_wal and (self.size, self.modified_at) == (earlier.size, earlier.modified_at)


class SqliteJournal(SqliteJournalReader):
    """A Journal in SQLite. Use it from the thread that opened it, and in no forked child."""

    def __init__(self, path: Path, connection: sqlite_files.Connection, held: journal_lock.JournalLock) -> None:
        try:
            super().__init__(path, connection)
            self._end = self._read_head()
        except BaseException:
            connection.close()
            raise
        self._lock: journal_lock.JournalLock | None = held
        self._uncertain = False
        self._files = _FileStamp.read(path)

    def append(self, records: Sequence[Record]) -> None:
        self.commit({}, records)

    def commit(self, changes: Mapping[str, str | None], records: Sequence[Record] = ()) -> None:
        if not changes and not records:
            return
        saved = merge_saved_settings(self.settings(), changes.items()) if changes else None
        with error_mapping.map_write_errors(self._path):
            rows, end = self._build_rows(records)
            if saved is not None:
                end = replace(end, settings=checksums.digest_settings(saved))
        with self._transaction(end):
            self._db.executemany(schema.INSERT_RECORD, rows)
            for name, value in changes.items():
                if value is None:
                    self._db.execute(schema.DELETE_SETTING, (name,))
                else:
                    self._db.execute(schema.UPSERT_SETTING, (name, value))

    def checkpoint(self, mode: str) -> None:
        """Write what is in the WAL into the main file; `mode` is SQLite's."""
        self._db.execute(f"PRAGMA wal_checkpoint({mode})")
        self._files = _FileStamp.read(self._path)

    def close(self) -> None:
        if self._lock is None:
            return
        with suppress(sqlite3.Error, OSError):
            self.checkpoint("TRUNCATE")
        super().close()
        self._lock.release()
        self._lock = None

    def _build_rows(self, records: Sequence[Record]) -> tuple[list[NewRow], checksums.JournalHead]:
        seq, tip = self._end.last, self._end.tip
        rows: list[NewRow] = []
        for record in records:
            seq += 1
            if record.seq != seq:
                raise JournalGapError(
                    f"record {record.seq} does not follow the journal's last one: {seq} is next in {self._path}",
                    hint="another engine may have written meanwhile; read the journal again",
                )
            kind, event = codec.kind_of(record.event), codec.encode_event(record.event)
            tip = checksums.compute_link(tip, (seq, record.at, codec.VERSION, kind.encode(), event))
            rows.append((seq, record.at, codec.VERSION, kind, event, tip))
        return rows, replace(self._end, last=seq, tip=tip)

    @contextmanager
    def _transaction(self, end: checksums.JournalHead) -> Iterator[None]:
        """Run a transaction, which is committed as a whole or not at all. `end` is the head that it leads to."""
        self._check_files()
        if self._uncertain:
            raise JournalError(
                f"the journal {self._path} had a disk error: whether its last append was kept is not known",
                hint="check the disk and the system's log, then start plait again: it reads what is there",
            )
        if self._lock is not None and not journal_lock.is_still_held(self._path, self._lock):
            raise JournalBusyError(
                f"the lock file of the journal {self._path} was removed: another process may be writing by now",
                hint="nothing was added; start plait again, and leave the .lock file where it is",
            )
        try:
            with error_mapping.map_write_errors(self._path):
                self._db.execute(schema.BEGIN)
                yield
                self._db.execute(schema.UPDATE_HEAD, (end.last, end.tip, end.settings, end.seal))
                self._db.execute("COMMIT")
            self._end = end
            self._files = _FileStamp.read(self._path)
        except BaseException as error:
            self._roll_back(error)
            raise

    def _check_files(self) -> None:
        """Raise JournalCorruptError if another program changed the files, which SQLite can't notice."""
        self._check_not_replaced()
        if not _FileStamp.read(self._path).continues(self._files):
            raise JournalCorruptError(
                f"the journal {self._path} was truncated or overwritten by another program while an engine was writing it",
                hint="nothing was added; agents that run continue. Restore the file from a backup, or start plait again: it "
                "checks what is there",
            )

    def _roll_back(self, error: BaseException) -> None:
        """Roll back. Nothing was kept, unless the disk failed: then only reopening shows what was written."""
        with suppress(sqlite3.Error):
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
        cause = error.__cause__
        self._uncertain = (
            isinstance(cause, sqlite3.Error) and error_mapping.get_primary_code(cause) == sqlite3.SQLITE_IOERR
        )
        if not self._uncertain:
            try:
                self._end = self._read_head()
            except (JournalError, sqlite3.Error):
                self._uncertain = True
