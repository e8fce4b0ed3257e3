"""The journal and the inbox as protocols; `plait.testing.contracts` checks implementations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from plait.core.errors import WorldError
from plait.core.events import Record
from plait.core.requests import Request


class JournalError(WorldError):
    """The journal can't be used."""


class JournalMissingError(JournalError):
    """No journal has been written here yet."""


class JournalBusyError(JournalError):
    """Another process holds the journal's lease: it has one writer."""


class JournalNewerError(JournalError):
    """The journal was written by a newer plait; it is not changed."""


class JournalCorruptError(JournalError):
    """The journal is damaged; it is not changed."""


class JournalFullError(JournalError):
    """The disk is full; nothing of the last append was kept."""


class JournalReadOnlyError(JournalError):
    """The journal can't be written here."""


class JournalGapError(JournalError):
    """The records to append do not follow the journal's last one; nothing was written."""


class InboxError(WorldError):
    """The inbox can't be used; the request was not added."""


class JournalReader(Protocol):
    """Reads records. Used by the thread that opened it.

    In a process that also writes, the writer is opened first.
    """

    @property
    def id(self) -> str:
        """The id created with the journal; cursors are valid only for the same id."""

    def last(self) -> int:
        """Return the seq of the newest record, 0 when there is none."""

    def read(self, after: int = 0) -> Iterator[Record]:
        """Yield all durable records with a greater seq, in order, as of now."""

    def wait(self, after: int, timeout: float) -> bool:
        """Return True as soon as there is a record with a greater seq, False after the timeout."""

    def settings(self) -> Mapping[str, str]:
        """Return the settings saved through the page or the API, as JSON by name."""

    def close(self) -> None: ...


class Journal(JournalReader, Protocol):
    """The journal as its one writer sees it."""

    def append(self, records: Sequence[Record]) -> None:
        """Append the records, all or none; they are durable on return. One call is one commit, so batch records."""

    def commit(self, changes: Mapping[str, str | None], records: Sequence[Record] = ()) -> None:
        """Change saved settings (None deletes one) and append records in one commit."""


class Inbox(Protocol):
    """Takes requests to the engine from any process."""

    def put(self, request: Request) -> None:
        """Add a request; durable on return. A second copy (the same id) is ignored, even after the first was taken."""

    def pending(self) -> Sequence[Request]:
        """Return the requests that are not taken yet, in order, without unreadable ones."""

    def unreadable(self) -> Mapping[str, str]:
        """Say why some requests, by id, can't be read (damaged, or from a newer plait). They are kept, and skipped."""

    def mark_taken(self, ids: Sequence[str]) -> None:
        """Remove these requests, because they are in the journal now or rejected, but remember their ids."""

    def close(self) -> None: ...
