"""A tracer: an onlooker that tells what becomes durable as spans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from plait.adapters.tracer.cursor import Cursor
from plait.adapters.tracer.sender import Channel, Parcel, Say, Sender
from plait.core.events import Record
from plait.core.spans.fold import Spans
from plait.core.state import State

CURSOR = "traces"
_PATH = "/v1/traces"


def open_tracer(folder: Path, journal: str, url: str | None, version: str, say: Say) -> Tracer:
    """`folder` keeps how far was told; `url` None: the standard variables say where to."""

    def channel() -> Channel:
        from plait.adapters.tracer.otlp import Otlp  # noqa: PLC0415 - an extra, and slow to import

        return Otlp(None if url is None else with_path(url), version, {"plait.journal.id": journal})

    return Tracer(journal, Cursor(folder / CURSOR, journal), channel, say)


def with_path(url: str) -> str:
    """An address without a path is a receiver's; traces have a place there."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=_PATH)) if parts.path in {"", "/"} else url


class Tracer:
    """Spans that ended while nobody could send them are sent by the next engine: those after the cursor's record."""

    def __init__(self, journal: str, cursor: Cursor, channel: Callable[[], Channel], say: Say) -> None:
        self._spans = Spans(journal)
        self._sender = Sender(channel, cursor.write, say)
        self._told = cursor.read()
        self._last = 0

    def replay(self, record: Record) -> None:
        self._last = record.seq
        spans = self._spans.take(record)
        if spans and self._told is not None and record.seq > self._told:
            self._sender.put(Parcel(record.seq, tuple(spans)))

    def hear(self, state: State, records: Sequence[Record]) -> None:  # noqa: ARG002 - records say all
        if self._told is None:  # history is not told, and what comes from now on is
            self._told = self._last
            self._sender.put(Parcel(self._last, ()))
        for record in records:
            spans = self._spans.take(record)
            if spans:
                self._sender.put(Parcel(record.seq, tuple(spans)))

    @property
    def at_rest(self) -> bool:
        return self._sender.at_rest

    def close(self) -> None:
        self._sender.close()
