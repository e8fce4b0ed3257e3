"""Requests on their way to the engine, in a file that any number of processes write to."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from plait import codec
from plait.adapters.sqlite import chain, faults, files, lock, tail
from plait.adapters.sqlite.schema import BEGIN, FORGET, INBOX, INBOX_ID, PUT, SCHEMA, TAKE, WAITING
from plait.core.requests import Request
from plait.ports import InboxError

# A write takes a few milliseconds, but fifty fronts may be in line, and SQLite's queue has no order. The engine, which
# comes again soon, waits less for a front that was stopped in the middle of asking.
PATIENCE = 60.0
ENGINE_PATIENCE = 5.0
GLANCE = 0.1  # at a time: SQLite does not hear Ctrl+C while it waits

# id, version, kind, body, check as they come out of the file. Damage can change a value's type.
Row = tuple[bytes, int, bytes, bytes, bytes]


def open_inbox(path: Path) -> SqliteInbox:
    """Open the inbox; make it where there is none."""
    path = path.resolve()
    with faults.of_inbox(path):
        if not path.exists():
            with lock.held(path):
                # Somebody else may have been quicker.
                if not path.exists():
                    files.bear(path, INBOX_ID, INBOX, lambda _: None)
        if not files.size(path):
            raise _refused(path, "is not one of plait's: the file is empty")
        connection = files.connect(path, "mode=rw", patience=GLANCE)
        try:
            _identify(path, connection)
            files.durable(connection)
        except BaseException:
            connection.close()
            raise
    return SqliteInbox(path, connection)


class SqliteInbox:
    """An Inbox. Use it from the thread that opened it, and in no forked child."""

    def __init__(self, path: Path, connection: files.Connection) -> None:
        self._path = path
        self._db = connection

    def put(self, request: Request) -> None:
        with faults.of_inbox(self._path):
            kind, body = codec.kind_of(request), codec.encode(request)
            check = chain.digest_of_request(request.id, codec.VERSION, kind, body)
        row = {"id": request.id, "version": codec.VERSION, "kind": kind, "body": body}
        with self._transaction(PATIENCE):
            self._db.execute(PUT, {**row, "check": check})

    def pending(self) -> Sequence[Request]:
        return tuple(found for _, found in self._waiting() if not isinstance(found, str))

    def aside(self) -> Mapping[str, str]:
        return {id_: found for id_, found in self._waiting() if isinstance(found, str)}

    def taken(self, ids: Sequence[str]) -> None:
        if not ids:
            return
        with self._transaction(ENGINE_PATIENCE):
            self._db.executemany(FORGET, [(each,) for each in ids])
            self._db.executemany(TAKE, [(each,) for each in ids])

    def wait(self, timeout: float) -> bool:
        with faults.of_inbox(self._path):
            return tail.wait(self._db, lambda: bool(self.pending()), timeout)

    def close(self) -> None:
        self._db.close()

    def _waiting(self) -> list[tuple[str, Request | str]]:
        with faults.of_inbox(self._path):
            return [_unpack(row) for row in self._db.execute(WAITING)]

    def _begin(self, patience: float) -> None:
        deadline = time.monotonic() + patience
        while True:
            try:
                self._db.execute(BEGIN)
            except sqlite3.OperationalError as error:
                if faults.primary(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
            else:
                return

    @contextmanager
    def _transaction(self, patience: float) -> Iterator[None]:
        with faults.of_inbox(self._path):
            self._begin(patience)
            try:
                yield
                self._db.execute("COMMIT")
            finally:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")


def _unpack(row: Row) -> tuple[str, Request | str]:
    """The request with its id, or why there is none."""
    try:
        id_, version, kind, body = row[0].decode(), row[1], row[2].decode(), row[3]
        if chain.digest_of_request(id_, version, kind, body) != row[4]:
            return id_, "it is damaged; ask again"
    except (AttributeError, TypeError, UnicodeDecodeError):
        return repr(row[0]), "it is damaged; ask again"
    try:
        found = codec.decode(kind, body, version)
    except (codec.NewerFormatError, codec.UnreadableEventError) as error:
        return id_, str(error)
    return id_, found if isinstance(found, Request) else f"{kind} is no request"


def _identify(path: Path, connection: files.Connection) -> None:
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != INBOX_ID:
        raise _refused(path, "is not one of plait's: it is a database of another program")
    if version > SCHEMA:
        raise InboxError(
            f"the inbox {path} was made by a newer plait (schema {version}; this one knows {SCHEMA})",
            hint="upgrade plait, or use the version that made it",
        )


def _refused(path: Path, what: str) -> InboxError:
    return InboxError(f"the inbox {path} {what}", hint="it was left as it is; move it away")
