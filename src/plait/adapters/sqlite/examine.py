"""Look before touching: whether a journal is whole, found out without changing a byte of it."""

from __future__ import annotations

import shutil
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from plait import codec
from plait.adapters.sqlite import chain, faults, files, wal
from plait.adapters.sqlite.schema import ALL_RECORDS, HEAD, JOURNAL_ID, PAGE, SCHEMA, SETTINGS

_MAGIC = b"SQLite format 3\0"
# magic, page size, write and read version (2: WAL), reserved space, fractions | schema format | text encoding,
# user version | application id; the rest changes as the file grows.
_FILE_HEADER = struct.Struct(">16sH6B 20x I 8x II 4x I")
_SOUND = (_MAGIC, PAGE, 2, 2, 0, 64, 32, 32, 4, 1)


def examine(path: Path) -> None:
    """Raise JournalCorruptError or JournalNewerError unless a writer may open this file. The caller holds the lock.

    Without a WAL the bare file is read; with one, a copy of both, because SQLite can't read the two together and leave
    no trace. The file is opened and closed here, and with that POSIX drops this process's other locks on it: whoever
    also reads the journal in the process that writes it opens its reader after the writer.
    """
    _examine_header(path)
    if not files.size(files.wal_of(path)):
        with closing(files.connect(path, "immutable=1")) as connection:
            _examine_content(path, connection)
        return
    examine_wal(path)
    with _copy(path) as copy, closing(files.connect(copy, "mode=rw")) as connection:
        _examine_content(path, connection)


def examine_at_rest(path: Path) -> None:
    """What a reader must know where nobody writes: that SQLite would not skip over a hole, nor leave files here."""
    if files.size(files.wal_of(path)):
        examine_wal(path)
        return
    with closing(files.connect(path, "immutable=1")) as connection:
        read_head(path, connection)


def examine_presence(path: Path) -> None:
    """Birth is atomic, so no crash leaves an empty file, or a WAL without its journal."""
    if not path.exists():
        if files.size(files.wal_of(path)):
            raise faults.corrupt(path, "the file itself is gone, only its -wal file is here")
    elif not path.is_file():
        raise faults.foreign(path, "it is no file")
    elif not files.size(path):
        raise faults.foreign(path, "it is empty")


def examine_wal(path: Path) -> None:
    found = wal.scan(files.wal_of(path))
    if found.damaged:
        where = f"after frame {found.kept}" if found.sound_header else "in the head"
        what = f"bytes have changed {where} of its -wal file, and records that were safe are behind them"
        raise faults.corrupt(path, what)


def read_head(path: Path, connection: sqlite3.Connection) -> chain.Head:
    """Whose file it is, which shape it has, and where the list ends."""
    _examine_identity(path, *_numbers(connection, "application_id", "user_version"))
    row = connection.execute(HEAD).fetchone()
    try:
        id_, schema, last, tip, settings, seal = row
        head = chain.Head(id_.decode(), schema, last, tip, settings)
        sound = head.seal == seal
    except (TypeError, AttributeError, UnicodeDecodeError, struct.error) as error:
        raise faults.corrupt(path, "its head can't be read") from error
    if not sound:
        raise faults.corrupt(path, "its head is not the one that was written")
    return head


def read_settings(path: Path, connection: sqlite3.Connection, head: chain.Head) -> dict[str, str]:
    rows = connection.execute(SETTINGS).fetchall()
    try:
        settings = {name.decode(): value.decode() for name, value in rows}
    except (AttributeError, UnicodeDecodeError) as error:
        raise faults.corrupt(path, "its settings can't be read") from error
    if chain.digest_of_settings(settings) != head.settings:
        raise faults.corrupt(path, "its settings are not the ones that were saved")
    return settings


def _examine_header(path: Path) -> None:
    with path.open("rb") as file:
        data = file.read(_FILE_HEADER.size)
    if not data.startswith(_MAGIC) or len(data) < _FILE_HEADER.size:
        raise faults.foreign(path, "it is no SQLite database")
    *fixed, version, application = _FILE_HEADER.unpack(data)
    _examine_identity(path, application, version)
    if tuple(fixed) != _SOUND:
        raise faults.corrupt(path, "its first page is not what plait writes")


def _examine_identity(path: Path, application: int, version: int) -> None:
    if application != JOURNAL_ID:
        raise faults.foreign(path, "it is a database of another program")
    if version > SCHEMA:
        raise faults.newer(path, f"schema {version}; this one knows {SCHEMA}")


def _examine_content(path: Path, connection: sqlite3.Connection) -> None:
    with faults.of_reading(path):
        head = read_head(path, connection)
        _examine_chain(path, connection, head)
        read_settings(path, connection, head)
        (found,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != b"ok":
        # Some versions put a headline above it.
        raise faults.corrupt(path, f"SQLite says: {found.decode(errors='replace').splitlines()[-1]}")


def _examine_chain(path: Path, connection: sqlite3.Connection, head: chain.Head) -> None:
    """Hash every record; decode none: this must cost a fraction of a replay."""
    seq, tip = 0, chain.genesis(head.id)
    for row in connection.execute(ALL_RECORDS):
        seq += 1
        if not chain.follows(row, tip, seq):
            raise faults.corrupt(path, f"record {seq} is not the one that was written")
        if row[2] > codec.VERSION:
            raise faults.newer(path, f"record {seq} has format {row[2]}; this one knows {codec.VERSION}")
        tip = row[5]
    if (seq, tip) != (head.last, head.tip):
        raise faults.corrupt(path, f"it ends after record {seq}, but record {head.last} was written")


@contextmanager
def _copy(path: Path) -> Iterator[Path]:
    folder = path.with_name(f"{path.name}.examined")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir(mode=0o700)
        copy = folder / path.name
        shutil.copyfile(path, copy)
        shutil.copyfile(files.wal_of(path), files.wal_of(copy))
        yield copy
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _numbers(connection: sqlite3.Connection, *pragmas: str) -> Iterator[int]:
    for pragma in pragmas:
        (value,) = connection.execute(f"PRAGMA {pragma}").fetchone()
        yield value
