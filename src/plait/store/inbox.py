"""Requests on their way to the engine, in a file that any number of processes write to."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from plait.core.requests import Request
from plait.store import checksums, codec, error_mapping, journal_lock, schema, sqlite_files
from plait.store.interfaces import InboxError
from plait.system import log
from plait.system.flock import hold_lock

# A write takes a few milliseconds, but fifty clients may wait, and SQLite's queue has no order. The engine, which
# polls again soon, waits less for a client that was stopped in the middle of a write.
PUT_TIMEOUT_SECONDS = 60.0
ENGINE_TIMEOUT_SECONDS = 5.0
BUSY_POLL_SECONDS = 0.1  # at a time: SQLite doesn't react to Ctrl+C while it waits

# id, version, kind, body, check as they come out of the file. Damage can change a value's type.
RequestRow = tuple[bytes, int, bytes, bytes, bytes]


def open_inbox(path: Path) -> SqliteInbox:
    """Open the inbox; create it if there is none."""
    return SqliteInbox(path.resolve())


def _connect(path: Path) -> sqlite_files.Connection:
    with error_mapping.map_inbox_errors(path):
        if not path.exists():
            sqlite_files.make_durable_folder(path.parent)
            with hold_lock(journal_lock.find_lock_file(path)):
                # Another process may have created it meanwhile.
                if not path.exists():
                    _create(path)
        if not sqlite_files.measure_file(path):
            raise _build_foreign_error(path, "is not one of plait's: the file is empty")
        connection = sqlite_files.connect(path, "mode=rw", timeout=BUSY_POLL_SECONDS)
        try:
            _verify_identity(path, connection)
            sqlite_files.make_durable(connection)
        except BaseException:
            connection.close()
            raise
    return connection


def _create(path: Path) -> None:
    for name in ("wal", "shm"):  # of an inbox that was deleted: they would be taken for the new one's
        path.with_name(f"{path.name}-{name}").unlink(missing_ok=True)
    sqlite_files.create_database(path, schema.INBOX_APPLICATION_ID, schema.INBOX_TABLES, lambda _: None)


class SqliteInbox:
    """An Inbox in SQLite. Use it from the thread that opened it, and in no forked child.

    If the file is deleted or replaced meanwhile, the file that is there now is used, and gets the waiting requests.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db = _connect(path)
        self._file = sqlite_files.find_identity(path)
        self._carried: list[
            RequestRow
        ] = []  # waited in a file that is gone, and must get into the one that is there now

    def put(self, request: Request) -> None:
        with error_mapping.map_inbox_errors(self._path):
            kind, body = codec.kind_of(request), codec.encode_event(request)
            check = checksums.digest_request(request.id, codec.VERSION, kind, body)
        row = {"id": request.id, "version": codec.VERSION, "kind": kind, "body": body}
        self._follow_file()
        with self._transaction(PUT_TIMEOUT_SECONDS):
            self._db.execute(schema.INSERT_REQUEST, {**row, "check": check})

    def pending(self) -> Sequence[Request]:
        return tuple(decoded for _, decoded in self._read_waiting() if not isinstance(decoded, str))

    def unreadable(self) -> Mapping[str, str]:
        return {id_: decoded for id_, decoded in self._read_waiting() if isinstance(decoded, str)}

    def mark_taken(self, ids: Sequence[str]) -> None:
        if not ids:
            return
        self._follow_file()
        with self._transaction(ENGINE_TIMEOUT_SECONDS):
            self._db.executemany(schema.DELETE_WAITING, [(request_id,) for request_id in ids])
            self._db.executemany(schema.INSERT_TAKEN, [(request_id,) for request_id in ids])

    def close(self) -> None:
        self._db.close()

    def _follow_file(self) -> None:
        """Switch to the file that is there now, because other processes write to that one."""
        if sqlite_files.find_identity(self._path) != self._file:
            current = _connect(self._path)  # if that fails, what waits is still in the open one
            with suppress(sqlite3.Error):
                self._carried += self._db.execute(schema.SELECT_WAITING)
            self._db.close()
            self._db, self._file = current, sqlite_files.find_identity(self._path)
            log.write_line(f"warning: the inbox {self._path} was deleted or replaced; using the one that is there now")
        if self._carried:
            with self._transaction(ENGINE_TIMEOUT_SECONDS):
                for id_, version, kind, body, check in self._carried:
                    row = {"id": id_.decode(), "version": version, "kind": kind.decode(), "body": body, "check": check}
                    self._db.execute(schema.INSERT_REQUEST, row)
            self._carried = []

    def _read_waiting(self) -> list[tuple[str, Request | str]]:
        self._follow_file()
        with error_mapping.map_inbox_errors(self._path):
            return [_decode_row(row) for row in self._db.execute(schema.SELECT_WAITING)]

    def _begin(self, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        while True:
            try:
                self._db.execute(schema.BEGIN)
            except sqlite3.OperationalError as error:
                if error_mapping.get_primary_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
            else:
                return

    @contextmanager
    def _transaction(self, timeout: float) -> Iterator[None]:
        with error_mapping.map_inbox_errors(self._path):
            self._begin(timeout)
            try:
                yield
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")


def _decode_row(row: RequestRow) -> tuple[str, Request | str]:
    """Return the request with its id, or why it can't be read."""
    try:
        id_, version, kind, body = row[0].decode(), row[1], row[2].decode(), row[3]
        if checksums.digest_request(id_, version, kind, body) != row[4]:
            return id_, "it is damaged; ask again"
    except (AttributeError, TypeError, UnicodeDecodeError):
        return repr(row[0]), "it is damaged; ask again"
    try:
        event = codec.decode_event(kind, body, version)
    except (codec.NewerFormatError, codec.UnreadableEventError) as error:
        return id_, str(error)
    return id_, event if isinstance(event, Request) else f"{kind} is not a request"


def _verify_identity(path: Path, connection: sqlite_files.Connection) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != schema.INBOX_APPLICATION_ID:
        raise _build_foreign_error(path, "is not one of plait's: it is a database of another program")
    if version > schema.SCHEMA_VERSION:
        raise InboxError(
            f"the inbox {path} was made by a newer plait (schema {version}; this one knows {schema.SCHEMA_VERSION})",
            hint="upgrade plait, or use the version that made it",
        )


def _build_foreign_error(path: Path, what: str) -> InboxError:
    return InboxError(f"the inbox {path} {what}", hint="the file was not changed; move it away")
