"""Verify a journal before it is opened, without changing a byte of it."""

from __future__ import annotations

import shutil
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from plait.store import checksums, codec, error_mapping, schema, sqlite_files, wal

_MAGIC = b"SQLite format 3\0"
# magic, page size, write and read version (2: WAL), reserved space, fractions | schema format | text encoding,
# user version | application id; the rest changes as the file grows.
_FILE_HEADER = struct.Struct(">16sH6B 20x I 8x II 4x I")
_EXPECTED_HEADER = (_MAGIC, schema.PAGE_SIZE, 2, 2, 0, 64, 32, 32, 4, 1)


def verify_journal(path: Path) -> None:
    """Raise JournalCorruptError or JournalNewerError unless a writer may open this file. The caller holds the lock.

    Without a WAL the bare file is read; with one, a copy of both, because SQLite can't read the two together and leave
    no trace. The file is opened and closed here, with which POSIX drops this process's other locks on it: a process
    that writes and reads the journal must open the writer first.
    """
    _verify_header(path)
    if not sqlite_files.measure_file(sqlite_files.find_wal(path)):
        with closing(sqlite_files.connect(path, "immutable=1")) as connection:
            _verify_content(path, connection)
        return
    verify_wal(path)
    with _copy_for_reading(path) as copy, closing(sqlite_files.connect(copy, "mode=rw")) as connection:
        _verify_content(path, connection)


def verify_idle_journal(path: Path) -> None:
    """Make a reader's checks while there is no writer: SQLite would neither skip damage nor leave files here."""
    if sqlite_files.measure_file(sqlite_files.find_wal(path)):
        verify_wal(path)
        return
    with closing(sqlite_files.connect(path, "immutable=1")) as connection:
        read_head(path, connection)


def verify_presence(path: Path) -> None:
    """Raise an error for an empty journal, or a WAL without one: creation is atomic, so no crash leaves these."""
    if not path.exists():
        if sqlite_files.measure_file(sqlite_files.find_wal(path)):
            raise error_mapping.build_corrupt_error(path, "the file is gone, and only its -wal file is left")
    elif not path.is_file():
        raise error_mapping.build_foreign_error(path, "it is not a file")
    elif not sqlite_files.measure_file(path):
        raise error_mapping.build_foreign_error(path, "it is empty")


def verify_wal(path: Path) -> None:
    scan = wal.scan_wal(sqlite_files.find_wal(path))
    if scan.is_damaged:
        position = f"after frame {scan.kept}" if scan.has_valid_header else "in the head"
        problem = f"bytes have changed {position} of its -wal file, before records that were committed"
        raise error_mapping.build_corrupt_error(path, problem)


def read_head(path: Path, connection: sqlite3.Connection) -> checksums.JournalHead:
    """Return the journal's id, the version of its tables, and where the list of records ends."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    _verify_identity(path, application, version)
    row = connection.execute(schema.SELECT_HEAD).fetchone()
    try:
        id_, tables, last, tip, settings, seal = row
        head = checksums.JournalHead(id_.decode(), tables, last, tip, settings)
        sound = head.seal == seal
    except (TypeError, AttributeError, UnicodeDecodeError, struct.error) as error:
        raise error_mapping.build_corrupt_error(path, "its head can't be read") from error
    if not sound:
        raise error_mapping.build_corrupt_error(path, "its head is not the one that was written")
    return head


def read_settings(path: Path, connection: sqlite3.Connection, head: checksums.JournalHead) -> dict[str, str]:
    rows = connection.execute(schema.SELECT_SETTINGS).fetchall()
    try:
        settings = {name.decode(): value.decode() for name, value in rows}
    except (AttributeError, UnicodeDecodeError) as error:
        raise error_mapping.build_corrupt_error(path, "its settings can't be read") from error
    if checksums.digest_settings(settings) != head.settings:
        raise error_mapping.build_corrupt_error(path, "its settings are not the ones that were saved")
    return settings


def _verify_header(path: Path) -> None:
    with path.open("rb") as file:
        data = file.read(_FILE_HEADER.size)
    if not data.startswith(_MAGIC) or len(data) < _FILE_HEADER.size:
        raise error_mapping.build_foreign_error(path, "it isn't a SQLite database")
    *fixed, version, application = _FILE_HEADER.unpack(data)
    _verify_identity(path, application, version)
    if tuple(fixed) != _EXPECTED_HEADER:
        raise error_mapping.build_corrupt_error(path, "its first page is not what plait writes")


def _verify_identity(path: Path, application: int, version: int) -> None:
    if application != schema.JOURNAL_APPLICATION_ID:
        raise error_mapping.build_foreign_error(path, "it is a database of another program")
    if version > schema.SCHEMA_VERSION:
        raise error_mapping.build_newer_error(path, f"schema {version}; this one knows {schema.SCHEMA_VERSION}")


def _verify_content(path: Path, connection: sqlite3.Connection) -> None:
    with error_mapping.map_read_errors(path):
        head = read_head(path, connection)
        _verify_chain(path, connection, head)
        read_settings(path, connection, head)
        (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != b"ok":
        # Some versions put a headline above it.
        raise error_mapping.build_corrupt_error(path, f"SQLite says: {found.decode(errors='replace').splitlines()[-1]}")


def _verify_chain(path: Path, connection: sqlite3.Connection, head: checksums.JournalHead) -> None:
    """Verify the chain of checks: hash every record but decode none, to cost a fraction of a replay."""
    seq, tip = 0, checksums.compute_genesis(head.id)
    for row in connection.execute(schema.SELECT_RECORDS):
        seq += 1
        if not checksums.is_next_link(row, tip, seq):
            raise error_mapping.build_corrupt_error(path, f"record {seq} is not the one that was written")
        if row[2] > codec.VERSION:
            raise error_mapping.build_newer_error(
                path, f"record {seq} has format {row[2]}; this one knows {codec.VERSION}"
            )
        tip = row[5]
    if (seq, tip) != (head.last, head.tip):
        raise error_mapping.build_corrupt_error(path, f"it ends after record {seq}, but record {head.last} was written")


@contextmanager
def _copy_for_reading(path: Path) -> Iterator[Path]:
    folder = path.with_name(f"{path.name}.examined")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir(mode=0o700)
        copy = folder / path.name
        shutil.copyfile(path, copy)
        shutil.copyfile(sqlite_files.find_wal(path), sqlite_files.find_wal(copy))
        yield copy
    finally:
        shutil.rmtree(folder, ignore_errors=True)
