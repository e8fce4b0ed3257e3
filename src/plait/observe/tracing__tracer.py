"""A tracer: an onlooker that tells what becomes durable as spans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from plait.core.events import Record
from plait.core.state import State
from plait.observe.spans import SpanBuilder
from plait.observe.tracing import SpanBatch, SpanExporter, SpanSender, WriteLog
from plait.observe.tracing__cursor import TraceCursor

CURSOR_FILE = "traces"
_TRACES_PATH = "/v1/traces"


def open_tracer(folder: Path, journal: str, url: str | None, version: str, log: WriteLog) -> Tracer:
    """`folder` keeps how far was told; `url` None: the standard variables say where to."""

    def channel() -> SpanExporter:
        from plait.observe.otlp import OtlpExporter  # noqa: PLC0415 - an extra, and slow to import

        return OtlpExporter(
            None if url is None else add_traces_path(url), version, {"plait.journal.id": journal}
        )

    return Tracer(journal, TraceCursor(folder / CURSOR_FILE, journal), channel, log)


def add_traces_path(url: str) -> str:
    """An address without a path is a receiver's; traces have a place there."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=_TRACES_PATH)) if parts.path in {"", "/"} else url


class Tracer:
    """Spans that ended while nobody could send them are sent by the next engine: those after the cursor's record."""

    def __init__(
        self, journal: str, cursor: TraceCursor, channel: Callable[[], SpanExporter], say: WriteLog
    ) -> None:
        self._spans = SpanBuilder(journal)
        self._sender = SpanSender(channel, cursor.write, say)
        self._sent_up_to = cursor.read()
        self._last = 0

    def replay(self, record: Record) -> None:
        self._last = record.seq
        spans = self._spans.add(record)
        if spans and self._sent_up_to is not None and record.seq > self._sent_up_to:
            self._sender.put(SpanBatch(record.seq, tuple(spans)))

    def handle_records(self, state: State, records: Sequence[Record]) -> None:  # noqa: ARG002 - records say all
        if self._sent_up_to is None:  # history is not told, and what comes from now on is
            self._sent_up_to = self._last
            self._sender.put(SpanBatch(self._last, ()))
        for record in records:
            spans = self._spans.add(record)
            if spans:
                self._sender.put(SpanBatch(record.seq, tuple(spans)))

    @property
    def is_idle(self) -> bool:
        return self._sender.is_idle

    def close(self) -> None:
        self._sender.close()
