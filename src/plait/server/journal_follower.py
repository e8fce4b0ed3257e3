"""The clerk of an office: keeps its desk, in a thread of its own, and hands on what is new. Nobody else touches the desk.

What agents say while they work, as events. It stands in no journal: whoever missed some asks for it by offset.

When batches are expected to end: one forecast each, made no more often than is worth it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from plait.agents.interface import OutputParser
from plait.client.counters import JournalCounters
from plait.client.eta import EtaEstimator
from plait.client.event_stream import EventStream
from plait.client.history import HistoryIndex
from plait.client.logs.activity import LogStream, ParserFactory, make_parser_factory
from plait.client.session import Session
from plait.client.stream_event import StreamEvent
from plait.core.errors import PlaitError
from plait.core.events import Record
from plait.core.state import AttemptState, State
from plait.core.task import Attempt
from plait.git.location import RepoLocation
from plait.server.event_buffer import BufferedEvent, EventBuffer, encode_events
from plait.store import project_files
from plait.store.batch_inputs import BatchInputsError

T = TypeVar("T")


# A journal's id, what was told of it since the last time, and its last record.
EventCallback = Callable[[str, Sequence[BufferedEvent], int], object]


LogCallback = Callable[[Sequence[StreamEvent]], object]


ENGINE_WATCH_SECONDS = 1.0  # seconds between two looks whether there is work and nobody does it


LIVE_LOG_POLL_SECONDS = 0.2  # between two looks at what agents say


ENGINE_RETRY_SECONDS = 5.0  # until an engine that does not stay is tried again


class JournalFollower:
    """`tally` and `chronicle` are of the journal that is followed: with another one they begin anew.

    `working`: an engine is, as far as is known. `untended`: why none stays.
    """

    def __init__(
        self, place: RepoLocation, publish: EventCallback, publish_logs: LogCallback, *, start_engine: bool
    ) -> None:
        self.counters, self.history = JournalCounters(), HistoryIndex()
        self.engine_running = False
        self.engine_error: PlaitError | None = None
        self._place, self._publish, self._publish_logs, self._start_engine = (
            place,
            publish,
            publish_logs,
            start_engine,
        )
        self._desk: Session | None = None
        self._journal = ""
        self._pending: list[BufferedEvent] = []
        self._etas, self._live_logs = EtaCache(), LiveLogs(place)
        self._live_logs_read_at = self._engine_checked_at = 0.0

    def open(self) -> EventBuffer:
        """With everything told that is there. Raises PlaitError where the journal can't be read."""
        buffer, desk = EventBuffer(""), Session(self._place, EventStream())

        def on_record(record: Record, events: Sequence[StreamEvent]) -> None:
            self._on_record(desk, record, events)
            buffer.append(self._take_pending(), record.seq)

        try:
            desk.subscribe(on_record)
            desk.refresh()
        except BaseException:
            desk.close()
            raise
        self._check_journal_id(desk)
        buffer.journal, self._desk = self._journal, desk
        desk.subscribe(lambda record, events: self._on_record(desk, record, events))
        return buffer

    def close(self) -> None:
        if self._desk is not None:
            self._desk.close()
            self._desk = None

    def query(self, read: Callable[[Session], T]) -> T:
        """Up to date."""
        assert self._desk is not None
        self._refresh(self._desk)
        try:
            return read(self._desk)
        finally:
            self._flush(self._desk)

    def poll(self, *, overhear: bool) -> bool:
        """Whether there was something new. `overhear`: somebody wants to hear what agents say."""
        assert self._desk is not None
        moved, now = self._desk.wait(0), time.monotonic()
        if moved:
            self._refresh(self._desk)
        if overhear and now - self._live_logs_read_at >= LIVE_LOG_POLL_SECONDS:
            self._live_logs_read_at = now
            if log_events := self._live_logs.read(self._desk.state, time.time()):
                self._publish_logs(log_events)
        if now - self._engine_checked_at >= ENGINE_WATCH_SECONDS:
            self._engine_checked_at = now
            self._refresh(self._desk)
            self._ensure_engine(self._desk)
        return moved

    def estimate_end(self, batch: str) -> float | None:
        return None if self._desk is None else self._etas.estimate_end(self._desk.state, batch)

    def _on_record(self, desk: Session, record: Record, events: Sequence[StreamEvent]) -> None:
        self._check_journal_id(desk)
        self.counters.apply(desk.state, record)
        self.history.apply(record)
        self._pending += encode_events(self._journal, record.seq, events)

    def _check_journal_id(self, desk: Session) -> None:
        """What was told of another journal, and not handed on, is void."""
        journal = desk.journal_id or ""
        if journal != self._journal:
            self._journal, self._pending = journal, []
            self.counters, self.history = JournalCounters(), HistoryIndex()

    def _refresh(self, desk: Session) -> None:
        try:
            desk.refresh()
        finally:
            self._flush(desk)

    def _flush(self, desk: Session) -> None:
        self._check_journal_id(desk)
        self._publish(self._journal, self._take_pending(), desk.state.seq)

    def _take_pending(self) -> list[BufferedEvent]:
        fresh, self._pending = self._pending, []
        return fresh

    def _ensure_engine(self, desk: Session) -> None:
        """That no engine stays keeps nobody from reading."""
        self.engine_running = desk.find_engine() is not None
        if self.engine_running:
            self.engine_error = None
        elif self._start_engine:
            try:
                desk.ensure_engine()
            except PlaitError as error:
                self.engine_error = error
                self._engine_checked_at += ENGINE_RETRY_SECONDS


class LiveLogs:
    def __init__(self, place: RepoLocation) -> None:
        self._place = place
        self._listeners_by_batch: dict[str, ParserFactory | None] = {}
        self._log_reader = LogStream(project_files.open_state_paths(place), self._listen)
        self._running_attempts: dict[Attempt, AttemptState] = {}

    def read(self, state: State, at: float) -> list[StreamEvent]:
        """What was said since the last time, also by those that have ended meanwhile."""
        alive = {name: attempt for batch in state.open.values() for name, attempt in batch.alive.items()}
        gone = [attempt for name, attempt in self._running_attempts.items() if name not in alive]
        ended_events = [event for attempt in gone for event in self._log_reader.finish(attempt, at)]
        self._running_attempts = alive
        self._listeners_by_batch = {
            batch: listen for batch, listen in self._listeners_by_batch.items() if batch in state.open
        }
        return [*ended_events, *self._log_reader.read(alive.values(), at)]

    def _listen(self, attempt: AttemptState) -> OutputParser | None:
        batch = attempt.name.batch
        if batch not in self._listeners_by_batch:
            try:
                self._listeners_by_batch[batch] = make_parser_factory(
                    project_files.load_batch_inputs(self._place, batch)
                )
            except BatchInputsError:
                self._listeners_by_batch[batch] = None
        listen = self._listeners_by_batch[batch]
        return None if listen is None else listen(attempt)


class EtaCache:
    def __init__(self) -> None:
        self._known: dict[str, EtaEstimator] = {}

    def estimate_end(self, state: State, batch: str) -> float | None:
        self._known = {name: eta for name, eta in self._known.items() if name in state.open}
        if batch not in state.open:
            return None
        return self._known.setdefault(batch, EtaEstimator()).estimate_end(state, batch, time.time())
