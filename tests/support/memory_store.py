"""A journal and an inbox in memory.

Both are thread-safe. Records survive `close`, so a test can let one engine die and another continue with the same object.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from threading import Condition, Lock
from uuid import uuid4

from plait.core.events import Record
from plait.core.requests import Request
from plait.store.interfaces import JournalGapError


class MemoryJournal:
    """A Journal and its own JournalReader."""

    def __init__(self) -> None:
        self._id = uuid4().hex
        self._records: list[Record] = []
        self._settings: dict[str, str] = {}
        self._grown = Condition()

    @property
    def id(self) -> str:
        return self._id

    def last(self) -> int:
        return len(self._records)

    def read(self, after: int = 0) -> Iterator[Record]:
        return iter(self._records[after:])

    def wait(self, after: int, timeout: float) -> bool:
        with self._grown:
            return self._grown.wait_for(lambda: len(self._records) > after, timeout)

    def append(self, records: Sequence[Record]) -> None:
        with self._grown:
            for expected, record in enumerate(records, len(self._records) + 1):
                if record.seq != expected:
                    raise JournalGapError(
                        f"record {record.seq} does not follow the journal's last one: {expected} is next",
                        hint="another engine may have written meanwhile; read the journal again",
                    )
            self._records.extend(records)
            self._grown.notify_all()

    def settings(self) -> Mapping[str, str]:
        with self._grown:
            return dict(self._settings)

    def commit(self, changes: Mapping[str, str | None], records: Sequence[Record] = ()) -> None:
        with self._grown:
            self.append(records)
            merged = {**self._settings, **changes}
            self._settings = {name: value for name, value in merged.items() if value is not None}

    def close(self) -> None:
        """Nothing to release."""


class MemoryInbox:
    """An Inbox in which every request is readable."""

    def __init__(self) -> None:
        self._waiting: dict[str, Request] = {}
        self._taken: set[str] = set()
        self._lock = Lock()

    def put(self, request: Request) -> None:
        with self._lock:
            if request.id not in self._taken:
                self._waiting.setdefault(request.id, request)

    def pending(self) -> Sequence[Request]:
        with self._lock:
            return tuple(self._waiting.values())

    def unreadable(self) -> Mapping[str, str]:
        return {}

    def mark_taken(self, ids: Sequence[str]) -> None:
        with self._lock:
            self._taken.update(ids)
            for each in ids:
                self._waiting.pop(each, None)

    def close(self) -> None:
        """Nothing to release."""
