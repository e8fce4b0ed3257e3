"""Follow a project's journal and its agents' output, in the session's thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TypeVar

from plait.agents.interface import OutputParser
from plait.client.counters import JournalCounters
from plait.client.eta import EtaEstimator
from plait.client.event_stream import EventStream
from plait.client.event_types import StreamEvent
from plait.client.history import HistoryIndex
from plait.client.logs.activity import LogStream, ParserFactory, make_parser_factory
from plait.client.session import Session
from plait.core.errors import PlaitError
from plait.core.events import Record
from plait.core.state import AttemptState
from plait.git.location import RepoLocation
from plait.server.event_buffer import BufferedEvent, EventBuffer, encode_events
from plait.store import project_files
from plait.store.batch_files import BatchInputsError

T = TypeVar("T")

# The journal's id, new events, and the sequence number of the last record.
EventCallback = Callable[[str, Sequence[BufferedEvent], int], object]
LogCallback = Callable[[Sequence[StreamEvent]], object]

ENGINE_WATCH_SECONDS = 1.0  # between two checks whether there is work and no engine
LOG_POLL_SECONDS = 0.2  # between two looks at agent output
ENGINE_RETRY_SECONDS = 5.0  # until an engine that exited is started again


class JournalFollower:
    """Follows a journal. `counters` and `history` are of the followed journal, and start over with another one.

    `engine_running`: at the last check. `engine_error`: why no engine keeps running.
    """

    def __init__(
        self, location: RepoLocation, publish: EventCallback, publish_logs: LogCallback, *, start_engine: bool
    ) -> None:
        self.counters, self.history = JournalCounters(), HistoryIndex()
        self.engine_running = False
        self.engine_error: PlaitError | None = None
        self._location, self._publish, self._publish_logs = location, publish, publish_logs
        self._start_engine = start_engine
        self._client: Session | None = None
        self._journal = ""
        self._pending: list[BufferedEvent] = []
        self._etas: dict[str, EtaEstimator] = {}
        self._logs = LogStream(project_files.open_state_paths(location), self._create_parser)
        self._logs_read_at = self._engine_checked_at = 0.0

    def open(self) -> EventBuffer:
        """Return a buffer with the events of all records so far. Raises PlaitError if the journal can't be read."""
        buffer, client = EventBuffer(""), Session(self._location, EventStream())

        def on_record(record: Record, events: Sequence[StreamEvent]) -> None:
            self._on_record(client, record, events)
            buffer.append(self._take_pending(), record.seq)

        try:
            client.subscribe(on_record)
            client.refresh()
        except BaseException:
            client.close()
            raise
        self._check_journal_id(client)
        buffer.journal, self._client = self._journal, client
        client.subscribe(lambda record, events: self._on_record(client, record, events))
        return buffer

    def close(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def query(self, read: Callable[[Session], T]) -> T:
        assert self._client is not None
        self._refresh(self._client)
        try:
            return read(self._client)
        finally:
            self._flush(self._client)

    def poll(self, *, read_logs: bool) -> bool:
        """Read new records; return whether there were any. `read_logs`: also publish agent output."""
        assert self._client is not None
        moved, now = self._client.wait(0), time.monotonic()
        if moved:
            self._refresh(self._client)
        if read_logs and now - self._logs_read_at >= LOG_POLL_SECONDS:
            self._logs_read_at = now
            running = [attempt for batch in self._client.state.open.values() for attempt in batch.alive.values()]
            if log_events := self._logs.read(running, time.time()):
                self._publish_logs(log_events)
        if now - self._engine_checked_at >= ENGINE_WATCH_SECONDS:
            self._engine_checked_at = now
            self._refresh(self._client)
            self._ensure_engine(self._client)
        return moved

    def list_last_output(self) -> list[StreamEvent]:
        """List the last published activity of each running attempt."""
        return self._logs.list_last()

    def estimate_end(self, batch: str) -> float | None:
        """Return when an open batch is expected to end; one estimator per batch limits how often it is computed."""
        assert self._client is not None
        state = self._client.state
        self._etas = {name: eta for name, eta in self._etas.items() if name in state.open}
        if batch not in state.open:
            return None
        return self._etas.setdefault(batch, EtaEstimator()).estimate_end(state, batch, time.time())

    def _on_record(self, client: Session, record: Record, events: Sequence[StreamEvent]) -> None:
        self._check_journal_id(client)
        self.counters.apply(client.state, record)
        self.history.apply(record)
        self._pending += encode_events(self._journal, record.seq, events)

    def _check_journal_id(self, client: Session) -> None:
        """Drop unpublished events of a replaced journal."""
        journal = client.journal_id or ""
        if journal != self._journal:
            self._journal, self._pending = journal, []
            self.counters, self.history = JournalCounters(), HistoryIndex()

    def _refresh(self, client: Session) -> None:
        try:
            client.refresh()
        finally:
            self._flush(client)

    def _flush(self, client: Session) -> None:
        self._check_journal_id(client)
        self._publish(self._journal, self._take_pending(), client.state.seq)

    def _take_pending(self) -> list[BufferedEvent]:
        fresh, self._pending = self._pending, []
        return fresh

    def _ensure_engine(self, client: Session) -> None:
        """Start an engine if one is needed. A failure is kept in `engine_error`, and reading continues."""
        self.engine_running = client.find_engine() is not None
        if self.engine_running:
            self.engine_error = None
        elif self._start_engine:
            try:
                client.ensure_engine()
            except PlaitError as error:
                self.engine_error = error
                self._engine_checked_at += ENGINE_RETRY_SECONDS

    def _create_parser(self, attempt: AttemptState) -> OutputParser | None:
        """Create a parser of the attempt's output; None: the output is shown as it is."""
        with suppress(BatchInputsError):
            return _load_parsers(self._location, attempt.name.batch)(attempt)
        return None


@lru_cache(8)
def _load_parsers(location: RepoLocation, batch: str) -> ParserFactory:
    return make_parser_factory(project_files.load_batch_inputs(location, batch))
