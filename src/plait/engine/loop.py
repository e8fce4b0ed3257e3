"""The engine's loop: requests and reports come in, decisions are made durable, and only then performed.

Everything happens in one thread. A tick takes all that came since the last one, so that many events share one commit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress

from plait.core import reports
from plait.core.capacity import count_local_slots
from plait.core.events import Record
from plait.core.fast_dataclass import dataclass
from plait.core.reducers import evolve
from plait.core.requests import ChangeEngineSettings, Request
from plait.core.scheduler.rules import decide_due, fold_incoming, is_engine_needed
from plait.core.scheduler.starts import has_batch_slots
from plait.core.state import State
from plait.engine.attempts import Attempts
from plait.engine.capacity_reporter import CapacityReporter
from plait.engine.conflict_prediction import ConflictPredictor
from plait.engine.context import BatchInputsCache, make_utf8_safe
from plait.engine.daemon import HealthFile
from plait.engine.nodes_file import NodesFile
from plait.engine.perform import Performer
from plait.engine.status_writeback import StatusWriter
from plait.observe.listeners import RecordListener
from plait.runtime.worker_pool import WorkerPool
from plait.store.interfaces import Inbox, InboxError, Journal, JournalFullError, JournalReadOnlyError
from plait.system import log
from plait.system.shared_state import OtherEngines, SharedState
from plait.system.sleep_inhibitor import SleepInhibitor

TICK_SECONDS = 1.0  # between two reads of transcripts and sensors, while something runs
INBOX_POLL_SECONDS = 2.0  # between two reads of the inbox, in case no wake-up came
IDLE_EXIT_SECONDS = 2.0  # with nothing left to do, before it exits
WRITE_RETRY_SECONDS = 2.0  # until a journal that could not be written is tried again
COMMIT_DELAY_SECONDS = 0.2  # reports that no decision depends on are delayed this long, to share a commit
_DEFERRABLE = (
    reports.AttemptLaunched,
    reports.AttemptActive,
    reports.AttemptPhase,
    reports.SourcesWritten,
    reports.SourcesUnwritten,
)


@dataclass(frozen=True, slots=True)
class Dependencies:
    journal: Journal
    inbox: Inbox
    inputs: BatchInputsCache
    performer: Performer
    attempts: Attempts
    status_writer: StatusWriter
    capacity: CapacityReporter
    shared: SharedState
    sleep_inhibitor: SleepInhibitor
    health: HealthFile
    nodes: NodesFile
    workers: WorkerPool
    conflict_predictor: ConflictPredictor
    listeners: tuple[RecordListener, ...] = ()


class Engine:
    """The owner of the state. `stop` may be called any time: attempts continue, and the next engine adopts them."""

    def __init__(self, pid: int, version: str, wall: Callable[[], float] = time.time) -> None:
        self.state = State()
        self._wall = wall
        self._pid = pid
        self._version = version
        self._dependencies: Dependencies | None = None
        self._incoming: list[Request | reports.Report] = []
        self._urgent = True
        self._queued_since = 0.0  # when the first event in `_incoming` came
        self._wake_requested = True
        self._inbox_read_at = 0.0
        self._polled_at = 0.0
        self._uncommitted: list[Record] = []
        self._saved_settings: Mapping[str, str] = {}  # the journal's settings
        self._wake_at: float | None = None
        self._stopping = False
        self._warned: set[str] = set()
        self._idle_since: float | None = None

    @property
    def dependencies(self) -> Dependencies:
        assert self._dependencies is not None
        return self._dependencies

    def enqueue(self, event: Request | reports.Report) -> None:
        if isinstance(event, reports.Report):
            event = make_utf8_safe(event)
        if not self._incoming:
            self._queued_since = time.monotonic()
        self._incoming.append(event)
        awaited = (
            isinstance(event, reports.SourceReport) and event.batch not in self.state.open
        )  # a front end waits for it
        self._urgent = self._urgent or awaited or not isinstance(event, _DEFERRABLE)

    def wake(self) -> None:
        """Note that there is a request in the inbox."""
        self._wake_requested = True

    def stop(self) -> None:
        self._stopping = True

    @property
    def was_stopped(self) -> bool:
        return self._stopping

    def open(self, parts: Dependencies, settings_request: ChangeEngineSettings) -> None:
        """Replay the journal and recover. `settings_request` has the current settings."""
        self._dependencies = parts
        self._saved_settings = parts.journal.settings()
        for record in parts.journal.read():
            evolve(self.state, record)
            parts.status_writer.take(record)
            for listener in parts.listeners:
                listener.replay(record)
        if any(batch.alive or batch.gate is not None for batch in self.state.open.values()):
            parts.capacity.clock.resume()
        parts.capacity.clock.save()
        self.enqueue(reports.EngineTaken(self._pid, version=self._version))
        if self.state.settings.with_fields(settings_request.settings, settings_request.fields) != self.state.settings:
            self.enqueue(settings_request)
        self._forget_stale_batches()
        adopted = parts.performer.recover()
        log.write_line(f"engine {self._pid} started at record {self.state.seq}; adopted {adopted} running attempts")

    def max_sleep(self) -> float:
        """Return how long the loop may sleep, in seconds, if nothing happens."""
        now = time.monotonic()
        if self._uncommitted:
            return WRITE_RETRY_SECONDS
        if self._urgent or self._wake_requested:
            return 0.0
        waits = [self._inbox_read_at + INBOX_POLL_SECONDS - now]
        if self._incoming:
            waits.append(self._queued_since + COMMIT_DELAY_SECONDS - now)
        if self._is_busy:
            waits.append(self._polled_at + TICK_SECONDS - now)
        if self._wake_at is not None:
            waits.append(self._wake_at - self._wall())
        if self._idle_since is not None:
            remaining = self._idle_since + IDLE_EXIT_SECONDS - now
            waits.append(
                remaining if remaining > 0 else COMMIT_DELAY_SECONDS
            )  # leftover processes are still being ended
        return max(0.0, min(waits))

    def tick(self) -> None:
        """Take new events, decide what is due, make it durable, perform it."""
        if self._uncommitted:
            self._commit(self._uncommitted)
            return
        self._poll()
        requests = self._read_inbox()
        jump = list(self.dependencies.capacity.clock.report_jump())
        with self._lock_shared_state(has_requests=bool(requests)) as other_engines:
            if not (requests or jump or self._is_commit_due() or self.dependencies.capacity.has_changed(other_engines)):
                return
            incoming, self._incoming, self._urgent = [*jump, *requests, *self._incoming], [], False
            now = self._wall()
            records = fold_incoming(self.state, incoming, now)
            # Capacity depends on what has just ended.
            changes = self.dependencies.capacity.report_changes(
                self.state, other_engines, self.dependencies.attempts.executors
            )
            records += fold_incoming(self.state, list(changes), now)
            decided, self._wake_at = decide_due(self.state, now)
            self.dependencies.shared.record_usage(
                count_local_slots(self.state), self._list_agent_pids(), waiting=self._has_waiting_tasks()
            )
        self._commit([*records, *decided])
        self._acknowledge(requests)

    @property
    def is_finished(self) -> bool:
        """Whether there has been nothing to do for a while."""
        if self._stopping:
            return True
        if not self._has_nothing_left():
            self._idle_since = None
            return False
        now = time.monotonic()
        if self._idle_since is None:
            self._idle_since = now
            self.dependencies.status_writer.flush()
        if now - self._idle_since < IDLE_EXIT_SECONDS or self.dependencies.status_writer.retry_once():
            return False
        return not self.dependencies.performer.sweep()

    def release(self) -> None:
        """Write the last record. Nothing is decided after it, because it would not be performed."""
        self.dependencies.nodes.remove()
        if self._uncommitted:
            self._commit(self._uncommitted)
        if not self._uncommitted:
            events, self._incoming = [*self._incoming, reports.EngineReleased(self._pid)], []
            self._commit(fold_incoming(self.state, events, self._wall()))
        self._forget_stale_batches(exiting=True)
        log.write_line(f"engine {self._pid} stopped at record {self.state.seq}")

    def _forget_stale_batches(self, *, exiting: bool = False) -> None:
        """Delete environments, except of batches that are open, in the inbox or being submitted."""
        masker = self.dependencies.attempts.masker
        with suppress(InboxError):
            coming = {getattr(request, "batch", "") for request in self.dependencies.inbox.pending()}
            wanted = {*self.state.open, *coming}
            if exiting:
                # If it was stopped, the next engine may still have to publish one.
                ended = (
                    () if self._stopping else [batch for batch in self.state.batches if batch not in self.state.open]
                )
                masker.forget_stale_batches_now(wanted, ended)
            else:
                masker.forget_stale_batches(wanted)

    @property
    def _is_busy(self) -> bool:
        return any(batch.alive or batch.paused is None for batch in self.state.open.values())

    def _has_nothing_left(self) -> bool:
        if self._incoming or self._uncommitted or self._wake_requested or self.dependencies.attempts.running:
            return False
        return (
            all(listener.is_idle for listener in self.dependencies.listeners)
            and self.dependencies.status_writer.is_idle
            and self.dependencies.workers.is_idle
            and not is_engine_needed(self.state)
        )

    def _is_commit_due(self) -> bool:
        """Whether something is due that can't wait."""
        if self._urgent or (self._wake_at is not None and self._wake_at <= self._wall()):
            return True
        return bool(self._incoming) and time.monotonic() - self._queued_since >= COMMIT_DELAY_SECONDS

    def _lock_shared_state(self, *, has_requests: bool) -> AbstractContextManager[OtherEngines]:
        """Lock the shared state; skip this while nothing can start."""
        return self.dependencies.shared.lock() if self.state.open or has_requests else nullcontext(OtherEngines())

    def _has_waiting_tasks(self) -> bool:
        """Whether something could start if there were a free slot."""
        running = (batch for batch in self.state.open.values() if batch.paused is None and has_batch_slots(batch, 1))
        return any(any(self.state.start_queue.heads(batch.id)) for batch in running)

    def _list_agent_pids(self) -> list[int]:
        alive = (attempt for batch in self.state.open.values() for attempt in batch.alive.values())
        return [attempt.pid for attempt in alive if attempt.pid is not None]

    def _poll(self) -> None:
        now = time.monotonic()
        if self._is_busy and now - self._polled_at >= TICK_SECONDS:
            self._polled_at = now
            self.dependencies.attempts.poll_transcripts(now)
            self.dependencies.capacity.read_sensors(self.dependencies.attempts)
            self.dependencies.nodes.write(self.dependencies.attempts.executors.list_nodes())
            self.dependencies.conflict_predictor.check_batches(now)
            self.dependencies.attempts.executors.check_disk_usage(now)
            self._warn_once(self.dependencies.shared.problem)

    def _read_inbox(self) -> Sequence[Request]:
        now = time.monotonic()
        if not self._wake_requested and now - self._inbox_read_at < INBOX_POLL_SECONDS:
            return ()
        self._wake_requested, self._inbox_read_at = False, now
        self.dependencies.journal.wait(self.state.seq, 0)  # raises if the file was removed: then this engine must exit
        try:
            return self.dependencies.inbox.pending()
        except InboxError as error:
            self._warn_once(error.message)
            return ()

    def _acknowledge(self, requests: Sequence[Request]) -> None:
        """Remove requests that are in the journal from the inbox; if this fails, later copies are ignored."""
        if requests and not self._uncommitted:
            try:
                self.dependencies.inbox.mark_taken([request.id for request in requests])
            except InboxError as error:
                self._warn_once(error.message)

    def _commit(self, records: list[Record]) -> None:
        """Write records; nothing is performed before they are on disk, nor decided while the disk is full."""
        try:
            self.dependencies.journal.commit(self._find_settings_changes(), records)
        except (JournalFullError, JournalReadOnlyError) as error:
            if not self._uncommitted:
                log.write_line(f"warning: {error.message}; {len(records)} records wait ({error.hint})")
            self.dependencies.health.write(
                f"{error.message}; running agents continue; nothing new starts. {error.hint}"
            )
            self._uncommitted = records
            return
        if self._uncommitted:
            log.write_line("the journal can be written again")
            self.dependencies.health.clear()
            self._uncommitted = []
        self._saved_settings = self.state.saved
        if any(isinstance(record.event, reports.ClockJumped) for record in records):
            self.dependencies.capacity.clock.save()
        for record in records:
            self.dependencies.status_writer.take(record)
        for record in records:
            self.dependencies.performer.perform(record)
        for listener in self.dependencies.listeners:
            listener.handle_records(self.state, records)
        self.dependencies.status_writer.schedule()
        self._keep_awake()

    def _find_settings_changes(self) -> dict[str, str | None]:
        """Return the changes that make the journal's settings equal the state's."""
        if self.state.saved == self._saved_settings:
            return {}
        return {**dict.fromkeys(self._saved_settings), **self.state.saved}

    def _keep_awake(self) -> None:
        """Keep the machine awake while an agent runs, but not while all tasks wait for a person or a provider."""
        inhibitor = self.dependencies.sleep_inhibitor
        if not any(batch.alive for batch in self.state.open.values()):
            inhibitor.release()
            return
        inhibitor.acquire()
        if inhibitor.problem:
            self._warn_once(f"can't keep the machine awake: {inhibitor.problem}")

    def _warn_once(self, problem: str) -> None:
        if problem and problem not in self._warned:
            self._warned.add(problem)
            log.write_line(f"warning: {problem}")
