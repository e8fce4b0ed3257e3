"""Send durable records as OpenTelemetry spans, from a thread of its own."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Protocol
from urllib.parse import urlsplit, urlunsplit

from plait.core.events import Record
from plait.core.fast_dataclass import dataclass
from plait.core.state import State
from plait.observe.delivery_thread import DeliveryThread
from plait.observe.spans import Span, SpanBuilder
from plait.system.atomic_files import replace_file

CURSOR_FILE = "traces"
MAX_WAITING_SPANS = 10_000  # the oldest of more are dropped
MAX_SPANS_PER_EXPORT = 512
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 5.0, 300.0
CLOSE_TIMEOUT_SECONDS = 2.0

_TRACES_PATH = "/v1/traces"

WriteLog = Callable[[str], None]


def open_tracer(folder: Path, journal: str, url: str | None, version: str, log: WriteLog) -> Tracer:
    """Open a tracer. `folder` holds the cursor; `url` None: OpenTelemetry's variables say where to send."""

    def channel() -> SpanExporter:
        from plait.observe.otlp import OtlpExporter  # an extra, and slow to import

        return OtlpExporter(None if url is None else add_traces_path(url), version, {"plait.journal.id": journal})

    return Tracer(journal, TraceCursor(folder / CURSOR_FILE, journal), channel, log)


def add_traces_path(url: str) -> str:
    """Add the default path, unless the URL has one."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(path=_TRACES_PATH)) if parts.path in {"", "/"} else url


class Tracer:
    """Sends spans. Those after the cursor's record, which couldn't be sent, are sent by the next engine."""

    def __init__(self, journal: str, cursor: TraceCursor, channel: Callable[[], SpanExporter], say: WriteLog) -> None:
        self._spans = SpanBuilder(journal)
        self._sender = SpanSender(channel, cursor.write, say)
        self._sent_up_to = cursor.read()
        self._last = 0

    def replay(self, record: Record) -> None:
        self._last = record.seq
        spans = self._spans.add(record)
        if spans and self._sent_up_to is not None and record.seq > self._sent_up_to:
            self._sender.put(SpanBatch(record.seq, tuple(spans)))

    def handle_records(self, state: State, records: Sequence[Record]) -> None:  # noqa: ARG002 - part of the interface
        if self._sent_up_to is None:  # start with new records, not with history
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


class SpanExporter(Protocol):
    """Sends spans to a receiver."""

    def send(self, spans: Sequence[Span]) -> str | None:
        """Send spans; return None if they were delivered, else why not."""

    def close(self) -> None:
        """Make a running `send` give up soon. Called from another thread."""


@dataclass(frozen=True, slots=True)
class SpanBatch:
    """The spans that one record ended."""

    seq: int
    spans: tuple[Span, ...]


class SpanSender:
    """Sends spans in a thread, where `open_channel` is called; if that raises ImportError, nothing is ever sent.
    `on_arrival` gets the record up to which everything was delivered.
    """

    def __init__(
        self, open_channel: Callable[[], SpanExporter], on_arrival: Callable[[int], None], log: WriteLog
    ) -> None:
        self._open, self._on_arrival, self._log = open_channel, on_arrival, log
        self._waiting = deque[SpanBatch]()
        self._size = 0  # number of spans in it
        self._lock = Lock()
        self._sending = self._failing = self._disabled = self._lossy = False
        self._channel: SpanExporter | None = None
        self._pause, self._retry_at = FIRST_RETRY_SECONDS, 0.0
        self._thread = DeliveryThread("tracer", self._send_some)

    def put(self, batch: SpanBatch) -> None:
        with self._lock:
            if self._disabled or self._thread.is_stopping:
                return
            self._waiting.append(batch)
            self._size += len(batch.spans)
            while self._size > MAX_WAITING_SPANS:
                self._size -= len(self._waiting.popleft().spans)
                self._warn_of_loss()
        self._thread.wake()

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being sent, or the receiver refuses now and the next engine will send it."""
        with self._lock:
            return self._failing or self._disabled or not (self._waiting or self._sending)

    def close(self) -> None:
        self._thread.stop()
        if self._channel is not None:
            self._channel.close()
        self._thread.join(CLOSE_TIMEOUT_SECONDS)

    def _warn_of_loss(self) -> None:
        if not self._lossy:
            self._lossy = True
            self._log(f"warning: more than {MAX_WAITING_SPANS} spans are waiting; dropping the oldest")

    def _send_some(self) -> float | None:
        """Send some spans; return how many seconds to wait before the next call."""
        wait = self._retry_at - time.monotonic()
        if wait > 0:
            return wait
        channel = self._channel or self._connect()
        batches = self._take_batches()
        if channel is None or not batches:
            return None
        spans = [span for batch in batches for span in batch.spans]
        try:
            why = channel.send(spans) if spans else None
        except Exception as error:  # noqa: BLE001 - work continues without traces
            why = str(error)
        return self._mark_delivered(batches[-1].seq) if why is None else self._requeue(batches, why)

    def _connect(self) -> SpanExporter | None:
        try:
            self._channel = self._open()
        except ImportError:
            self._disable("traces need OpenTelemetry: pip install 'plait[otel]'")
        except Exception as error:  # noqa: BLE001 - as above
            self._disable(f"can't send traces: {error}")
        return self._channel

    def _disable(self, why: str) -> None:
        with self._lock:
            self._disabled = True
            self._waiting.clear()
        self._log(f"warning: {why}")

    def _take_batches(self) -> list[SpanBatch]:
        with self._lock:
            taken, size = list[SpanBatch](), 0
            while self._waiting and (not taken or size + len(self._waiting[0].spans) <= MAX_SPANS_PER_EXPORT):
                taken.append(self._waiting.popleft())
                size += len(taken[-1].spans)
                if not size:  # a batch without spans only sets the cursor: deliver it at once
                    break
            self._size -= size
            self._sending = bool(taken)
            return taken

    def _mark_delivered(self, seq: int) -> float:
        self._on_arrival(seq)
        with self._lock:
            if self._failing:
                self._log("traces can be sent again")
            self._sending = self._failing = False
        self._pause = FIRST_RETRY_SECONDS
        return 0.0

    def _requeue(self, batches: Sequence[SpanBatch], why: str) -> float:
        with self._lock:
            if not self._failing and not self._thread.is_stopping:
                self._log(f"warning: can't send traces, retrying: {why}")
            self._waiting.extendleft(reversed(batches))
            self._size += sum(len(batch.spans) for batch in batches)
            self._sending, self._failing = False, True
        pause, self._pause = self._pause, min(2 * self._pause, MAX_RETRY_SECONDS)
        self._retry_at = time.monotonic() + pause
        return pause


class TraceCursor:
    """The file with the last record whose spans were delivered. Losing it repeats or loses some spans."""

    def __init__(self, path: Path, journal: str) -> None:
        self._path, self._journal = path, journal

    def read(self) -> int | None:
        """Return the record; None if nothing of this journal was ever sent."""
        try:
            journal, seq = self._path.read_text().split()
            return int(seq) if journal == self._journal else None
        except (OSError, ValueError):
            return None

    def write(self, seq: int) -> None:
        with suppress(OSError):
            replace_file(self._path, f"{self._journal} {seq}\n".encode(), mode=0o666)
