"""A journal read, by anybody, at any time: no lock, and no transaction that outlives a page of records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

from plait import codec
from plait.adapters.sqlite import chain, examine, faults, files, lock, tail
from plait.adapters.sqlite.schema import CHECK_OF, RECORDS_AFTER
from plait.core.events import Record
from plait.ports import JournalCorruptError, JournalError, JournalMissingError

# Records in memory at a time. A checkpoint waits for readers, so a page is over in milliseconds.
PAGE = 256
PAGE_BYTES = 1_000_000


def open_reader(path: Path) -> SqliteReader:
    """Raise JournalMissingError where nothing has been written yet."""
    path = path.resolve()
    with faults.of_reading(path):
        examine.examine_presence(path)
        if not path.exists():
            raise JournalMissingError(
                f"there is no journal at {path} yet", hint="it is made when the first batch is submitted"
            )
        _examine_at_rest(path)
        connection = files.connect(path, "mode=ro")
    try:
        return SqliteReader(path, connection)
    except BaseException:
        connection.close()
        raise


def _examine_at_rest(path: Path) -> None:
    """A writer has looked at the journal more closely, and is changing what would be read here."""
    if lock.taken(path):
        return
    try:
        with faults.of_reading(path):
            examine.examine_at_rest(path)
    except JournalCorruptError:
        if not lock.taken(path):
            raise


class SqliteReader:
    """A JournalReader. Use it from the thread that opened it."""

    def __init__(self, path: Path, connection: files.Connection) -> None:
        self._path = path
        self._db = connection
        self._file = files.identity(path)
        self._id = self._head().id
        self._open = True
        files.note_open(self._file, 1)

    @property
    def id(self) -> str:
        return self._id

    def last(self) -> int:
        return self._head().last

    def read(self, after: int = 0) -> Iterator[Record]:
        head = self._head()
        return self._walk(after, head) if after < head.last else iter(())

    def wait(self, after: int, timeout: float) -> bool:
        try:
            with faults.of_reading(self._path):
                found = tail.wait(self._db, lambda: self.last() > after, timeout)
        except JournalError:
            self._look()  # what can't be read any more may have been replaced
            raise
        if not found:
            self._look()
        return found

    def settings(self) -> Mapping[str, str]:
        with faults.of_reading(self._path):
            self._db.execute("BEGIN")
            try:
                return examine.read_settings(self._path, self._db, self._head())
            finally:
                self._db.execute("COMMIT")

    def close(self) -> None:
        self._db.close()
        if self._open:
            self._open = False
            files.note_open(self._file, -1)

    def _look(self) -> None:
        """Nothing ever comes to a file that was moved away."""
        try:
            same = files.identity(self._path) == self._file
        except FileNotFoundError:
            same = False
        if not same:
            raise JournalMissingError(
                f"the journal {self._path} was moved away or replaced", hint="open it again"
            )

    def _head(self) -> chain.Head:
        with faults.of_reading(self._path):
            return examine.read_head(self._path, self._db)

    def _walk(self, after: int, head: chain.Head) -> Iterator[Record]:
        tip = self._check_of(after, head)
        while after < head.last:
            page, tip = self._page(after, head.last, tip)
            yield from page
            after += len(page)
        if tip != head.tip:
            raise faults.corrupt(self._path, f"record {head.last} is not the one that was written")

    def _check_of(self, seq: int, head: chain.Head) -> bytes:
        if not seq:
            return chain.genesis(head.id)
        with faults.of_reading(self._path):
            row = self._db.execute(CHECK_OF, (seq,)).fetchone()
        if row is None or not isinstance(row[0], bytes):
            raise faults.corrupt(self._path, f"record {seq} is missing")
        return row[0]

    def _page(self, after: int, until: int, tip: bytes) -> tuple[list[Record], bytes]:
        with faults.of_reading(self._path):
            rows = self._rows(after, until)
        if not rows:
            raise faults.corrupt(self._path, f"record {after + 1} is missing")
        records = []
        for seq, row in enumerate(rows, after + 1):
            if not chain.follows(row, tip, seq):
                raise faults.corrupt(self._path, f"record {seq} is not the one that was written")
            records.append(self._decode(row))
            tip = row[5]
        return records, tip

    def _rows(self, after: int, until: int) -> list[chain.Row]:
        """As many as fit a page, by number and by size; at least one."""
        rows, size = list[chain.Row](), 0
        with closing(self._db.execute(RECORDS_AFTER, (after, until, PAGE))) as cursor:
            for row in cursor:
                rows.append(row)
                size += len(row[4]) if isinstance(row[4], bytes) else 0
                if size > PAGE_BYTES:
                    break
        return rows

    def _decode(self, row: chain.Row) -> Record:
        seq, at, version, kind, event, _ = row
        try:
            return Record(seq, at, codec.decode(kind.decode(), event, version))
        except codec.NewerFormatError as error:
            what = f"record {seq} has format {version}; this one knows {codec.VERSION}"
            raise faults.newer(self._path, what) from error
        except codec.UnreadableEventError as error:
            raise faults.corrupt(self._path, f"record {seq}: {error}") from error
