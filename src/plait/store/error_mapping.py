"""Turn errors of SQLite and the operating system into messages for people."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from plait.store import interfaces

_CORRUPT_CODES = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
_READ_ONLY_CODES = {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH, sqlite3.SQLITE_CANTOPEN}
_BUSY_CODES = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_CODE_BY_ERRNO = {
    errno.ENOSPC: sqlite3.SQLITE_FULL,
    errno.EDQUOT: sqlite3.SQLITE_FULL,
    errno.EACCES: sqlite3.SQLITE_READONLY,
    errno.EPERM: sqlite3.SQLITE_READONLY,
    errno.EROFS: sqlite3.SQLITE_READONLY,
}


def get_primary_code(error: sqlite3.Error | OSError) -> int:
    """Return SQLite's result code without its extension, also for errors of the system. 0: the Python module was
    misused (a closed connection, another thread).
    """
    if isinstance(error, OSError):
        return _CODE_BY_ERRNO.get(error.errno or 0, sqlite3.SQLITE_IOERR)
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def build_corrupt_error(path: Path, what: str) -> interfaces.JournalCorruptError:
    return interfaces.JournalCorruptError(
        f"the journal {path} is damaged: {what}",
        hint="the file was not changed; restore it from a backup, or move it and the files named like it away "
        "to begin a new one (batches are forgotten, their branches stay)",
    )


def build_foreign_error(path: Path, what: str) -> interfaces.JournalCorruptError:
    return interfaces.JournalCorruptError(
        f"{path} is not a plait journal: {what}",
        hint="restore it from a backup, or move it away: plait starts without its history, and results stay on their branches",
    )


def build_newer_error(path: Path, what: str) -> interfaces.JournalNewerError:
    return interfaces.JournalNewerError(
        f"the journal {path} was written by a newer plait ({what})",
        hint="the file was not changed; upgrade plait, or use the version that wrote it",
    )


@contextmanager
def map_read_errors(path: Path) -> Iterator[None]:
    """Raise read errors as errors of the journal: every one is damage, unless the file can't be reached at all."""
    try:
        yield
    except sqlite3.Error as error:
        if not get_primary_code(error):
            raise
        raise _map_read_error(path, error) from error
    except UnicodeDecodeError as error:
        raise _build_malformed_error(path) from error
    except OSError as error:
        raise _build_io_error(path, error) from error


@contextmanager
def map_write_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        if not get_primary_code(error):
            raise
        raise _map_write_error(path, get_primary_code(error), error) from error
    except UnicodeDecodeError as error:
        raise _build_malformed_error(path) from error
    except UnicodeEncodeError as error:
        raise interfaces.JournalError(
            f"nothing was added to the journal {path}: {_describe_invalid_text(error)}"
        ) from error


@contextmanager
def map_inbox_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        if not get_primary_code(error):
            raise
        raise _map_inbox_error(path, get_primary_code(error), error) from error
    except UnicodeEncodeError as error:
        raise interfaces.InboxError(
            f"the request was not added to the inbox {path}: {_describe_invalid_text(error)}"
        ) from error


def _map_read_error(path: Path, error: sqlite3.Error) -> interfaces.JournalError:
    code = get_primary_code(error)
    if code in _BUSY_CODES:
        return _build_busy_error(path, error)
    if code == sqlite3.SQLITE_NOTADB:
        return build_foreign_error(path, "it isn't a SQLite database")
    too_short = getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_IOERR_SHORT_READ
    if code in _READ_ONLY_CODES:
        return interfaces.JournalReadOnlyError(
            f"the journal {path} can't be read here: {error}",
            hint="check the owner and the mode of the file and of its folder: reading takes a small file beside it",
        )
    if code == sqlite3.SQLITE_IOERR and not too_short:
        return _build_io_error(path, error)
    return build_corrupt_error(path, f"SQLite says: {error}")


def _map_write_error(path: Path, code: int, error: sqlite3.Error | OSError) -> interfaces.JournalError:
    if code == sqlite3.SQLITE_FULL:
        return interfaces.JournalFullError(
            f"the disk is full: nothing was added to the journal {path}",
            hint="free some space and start plait again; plait continues where it stopped",
        )
    if code in _READ_ONLY_CODES:
        what = f"{error.strerror} ({error.filename})" if isinstance(error, OSError) else str(error)
        return interfaces.JournalReadOnlyError(
            f"the journal {path} can't be written: {what}",
            hint="check the owner and the mode of the file and its folder, and whether the disk is mounted read-only",
        )
    if code in _CORRUPT_CODES:
        return build_corrupt_error(path, f"SQLite says: {error}")
    if code in _BUSY_CODES:
        return _build_busy_error(path, error)
    return _build_io_error(path, error)


def _map_inbox_error(path: Path, code: int, error: Exception) -> interfaces.InboxError:
    if code == sqlite3.SQLITE_FULL:
        what, hint = "is on a full disk", "free some space and ask again"
    elif code in _READ_ONLY_CODES:
        what, hint = "can't be written", "check the owner and the mode of the file and its folder"
    elif code in _BUSY_CODES:
        what, hint = "stayed locked", "close whatever else has it open (a database browser?) and ask again"
    elif code == sqlite3.SQLITE_IOERR:
        what, hint = "can't be used", "check the disk and the system's log, then ask again"
    else:
        what, hint = (
            "is damaged",
            "move it away: plait creates a new one; then repeat the requests that were in it",
        )
    return interfaces.InboxError(f"the inbox {path} {what} ({error})", hint=hint)


def _describe_invalid_text(error: UnicodeEncodeError) -> str:
    return f"{error.object[max(0, error.start - 20) : error.end + 20]!r} isn't valid text ({error.reason})"


def _build_malformed_error(path: Path) -> interfaces.JournalCorruptError:
    """Make the error for text that Python can't read: SQLite quotes the damaged name of a table or a column."""
    return build_corrupt_error(path, "SQLite says: malformed database schema")


def _build_busy_error(path: Path, error: Exception) -> interfaces.JournalBusyError:
    return interfaces.JournalBusyError(
        f"the journal {path} is locked by another program ({error})",
        hint="close whatever else has it open (a database browser?) and try again",
    )


def _build_io_error(path: Path, error: Exception) -> interfaces.JournalError:
    return interfaces.JournalError(
        f"the journal {path} can't be used: {error}",
        hint="check the disk and the system's log, then try again",
    )
