"""What the engine asks of the world, as protocols. Adapters implement them; `plait.testing.contracts` checks them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from plait.core.errors import WorldError
from plait.core.events import Record
from plait.core.requests import Request


class JournalError(WorldError):
    """Something stands between plait and its journal."""


class JournalMissingError(JournalError):
    """Nothing has been written here yet."""


class JournalBusyError(JournalError):
    """Another process holds the journal's lease: it has one writer."""


class JournalNewerError(JournalError):
    """The journal was written by a newer plait and is left as it is."""


class JournalCorruptError(JournalError):
    """The journal does not hold what was written to it and is left as it is."""


class JournalFullError(JournalError):
    """The disk has no room; nothing of the last append was kept."""


class JournalReadOnlyError(JournalError):
    """The journal can't be written here."""


class JournalGapError(JournalError):
    """The records to append do not follow the journal's last one; nothing was written."""


class InboxError(WorldError):
    """Something stands between a front and the inbox; the request was not left there."""


class JournalReader(Protocol):
    """The list of facts, for whoever shows them. It belongs to the thread that opened it.

    In a process that also writes, the writer is opened first.
    """

    @property
    def id(self) -> str:
        """Made once, at the journal's birth: a cursor is only worth something together with it."""

    def last(self) -> int:
        """The seq of the newest record, 0 when there is none."""

    def read(self, after: int = 0) -> Iterator[Record]:
        """Every record with a greater seq that is durable now, in order; what comes later, a later call reads."""

    def wait(self, after: int, timeout: float) -> bool:
        """Return True as soon as there is a record with a greater seq, False when the time is over."""

    def settings(self) -> Mapping[str, str]:
        """What was saved through the page or the API, as JSON texts by name."""

    def close(self) -> None: ...


class Journal(JournalReader, Protocol):
    """The list of facts, for its one writer."""

    def append(self, records: Sequence[Record]) -> None:
        """All or nothing, and durable on return. One call is one commit: bring many records at once."""

    def commit(self, changes: Mapping[str, str | None], records: Sequence[Record] = ()) -> None:
        """Set the named ones; None forgets one. In one commit with the records that say so."""


class Inbox(Protocol):
    """Requests on their way to the engine: any front puts, the engine takes."""

    def put(self, request: Request) -> None:
        """Durable on return. A second copy (the same id) is ignored, even after the first was taken."""

    def pending(self) -> Sequence[Request]:
        """What has not been taken yet, in the order it arrived; one that can't be read costs itself only."""

    def unreadable(self) -> Mapping[str, str]:
        """Why some requests, by id, can't be read (damaged, or from a newer plait). They are kept, and skipped."""

    def mark_taken(self, ids: Sequence[str]) -> None:
        """These are in the journal now (or, set aside, not wanted any more): forget them, but know their ids."""

    def wait(self, timeout: float) -> bool:
        """Return True as soon as something is pending that can be read, False when the time is over."""

    def close(self) -> None: ...
