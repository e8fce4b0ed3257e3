"""Follow one batch until it ends, is stopped, needs a person, or the user detaches."""

from __future__ import annotations

import time
from enum import Enum, auto

from plait.cli.live.bell import Bell
from plait.cli.live.renderers import Renderer
from plait.cli.live.signals import SignalCounter
from plait.client.session import Session, new_request_id
from plait.core.decisions import TaskEnded
from plait.core.errors import WorldError
from plait.core.reports import SourcesWritten
from plait.core.requests import Approve, Pause, Request, Resume, Stop, Unpause
from plait.core.settings import WriteBack
from plait.core.state import BatchState
from plait.core.status import PauseCause
from plait.core.views import make_batch_view
from plait.store.interfaces import InboxError

KEY_POLL_SECONDS = 0.25  # wait for records at most this long before keys and signals are read
MIN_READ_INTERVAL_SECONDS = 0.05  # between two reads of the journal
WRITE_BACK_TIMEOUT_SECONDS = 3.0  # for the statuses in the sources
HEALTH_CHECK_SECONDS = 1.0  # between two checks of the engine

_STOPPING_NOTICE = "stopping: agents are asked to end; Ctrl+C again to end them at once"
_STOPPING_NOW_NOTICE = "stopping at once"


class FollowResult(Enum):
    """Why following ended."""

    ENDED = auto()  # the batch ended
    STOPPED = auto()  # by Ctrl+C; it can be resumed
    NEEDS_PERSON = auto()  # it waits for a person, and there is no terminal
    DETACHED = auto()  # the user left; the batch continues


class BatchFollower:
    """`interactive`: a person is at the terminal and can answer what the batch waits for."""

    def __init__(  # noqa: PLR0913 - its collaborators and two flags
        self,
        desk: Session,
        batch: str,
        renderer: Renderer,
        signals: SignalCounter,
        *,
        interactive: bool,
        bell: bool = False,
    ) -> None:
        self._desk, self._id, self._renderer, self._signals = desk, batch, renderer, signals
        self._bell = Bell(batch, enabled=bell)
        self._interactive = interactive
        self._stops_requested = 0
        self._detached = False
        self._notice = ""
        self._engine_trouble = ""
        self._refused_at: tuple[object, int] | None = None
        self._engine_checked_at = time.monotonic()
        self._last_read_at = 0.0
        self._last_task_end = self._written_back = 0  # journal positions

    @property
    def _batch(self) -> BatchState:
        batch = self._desk.state.batches.get(self._id)
        if batch is None:
            raise WorldError(f"batch {self._id} is gone: the journal was removed or replaced")
        return batch

    def follow(self) -> FollowResult:
        self._read_records()
        while (result := self._find_result()) is None:
            if self._refused_at is not None and self._refused_at != self._get_refusal_context():
                self._notice, self._refused_at = "", None  # the refusal no longer applies
            self._renderer.refresh(self._engine_trouble or self._notice)
            self._handle_signals()
            for key in self._renderer.read_keys():
                self._handle_key(key)
            if self._desk.wait(KEY_POLL_SECONDS):
                self._throttle()
                self._read_records()
            if time.monotonic() - self._engine_checked_at >= HEALTH_CHECK_SECONDS:
                self._desk.ensure_engine()
                self._check_engine()
                self._engine_checked_at = time.monotonic()
        if result is FollowResult.ENDED:
            self._wait_for_write_back()
        return result

    def _check_engine(self) -> None:
        """An engine that can't write its journal reports that in its health file instead."""
        engine = self._desk.find_engine()
        trouble = engine.trouble if engine is not None else ""
        self._engine_trouble = f"the engine is stuck: {trouble}" if trouble else ""

    def _read_records(self) -> None:
        news = self._desk.read_events()
        for each in news:
            event = each.record.event
            if isinstance(event, TaskEnded) and event.batch == self._id:
                self._last_task_end = each.record.seq
            elif isinstance(event, SourcesWritten) and event.batch == self._id:
                self._written_back = max(self._written_back, event.upto)
        self._renderer.add_news(news)
        self._bell.ring_for(self._desk.state, [each.record for each in news])

    def _wait_for_write_back(self) -> None:
        """Wait until the sources have the final statuses, but not long: a source may not be writable."""
        batch = self._batch
        expected = batch.settings.write_back in {WriteBack.CHECKOUT, WriteBack.BOTH} and batch.sources
        deadline = time.monotonic() + WRITE_BACK_TIMEOUT_SECONDS
        while expected and self._written_back < self._last_task_end and time.monotonic() < deadline:
            self._desk.wait(KEY_POLL_SECONDS)
            self._read_records()

    def _throttle(self) -> None:
        """Records that come in quick succession are shown together."""
        pause = self._last_read_at + MIN_READ_INTERVAL_SECONDS - time.monotonic()
        if pause > 0:
            time.sleep(pause)
        self._last_read_at = time.monotonic()

    def _find_result(self) -> FollowResult | None:
        batch = self._batch
        if batch.ended is not None:
            return FollowResult.ENDED
        if self._detached or self._signals.exit_signal is not None:
            return FollowResult.DETACHED
        if batch.alive:
            return None
        if self._stops_requested and batch.stopping:
            return FollowResult.STOPPED
        return FollowResult.NEEDS_PERSON if not self._interactive and self._needs_person() else None

    def _needs_person(self) -> bool:
        """Pending requests may change that, so they are waited for."""
        return make_batch_view(self._desk.state, self._batch).waits_for_person and not self._desk.list_pending()

    def _handle_signals(self) -> None:
        if self._signals.interrupts > self._stops_requested:
            self._stops_requested = self._signals.interrupts
            now = self._stops_requested > 1
            self._notice, self._refused_at = _STOPPING_NOW_NOTICE if now else _STOPPING_NOTICE, None
            self._renderer.refresh(self._notice)
            self._send(Stop(new_request_id(), self._id, now=now))

    def _handle_key(self, key: str) -> None:
        match key:
            case "a" | "\n" | "\r":
                self._send(Approve(new_request_id(), self._id))
            case "p":
                self._send(self._make_pause_toggle())
            case "d" | "q":
                self._detached = True
            case _:
                pass

    def _make_pause_toggle(self) -> Request:
        paused = self._batch.paused
        if paused is None:
            return Pause(new_request_id(), self._id)
        if paused.cause is PauseCause.STOP:
            return Resume(new_request_id(), self._id)
        return Unpause(new_request_id(), self._id)

    def _get_refusal_context(self) -> tuple[object, int]:
        """The state that a refusal depends on; when it changes, the notice goes."""
        return self._batch.paused, self._batch.unfinished_count

    def _send(self, request: Request) -> None:
        """Send a request; a failure becomes a notice, and following continues."""
        try:
            answer = self._desk.send(request)
        except InboxError as error:
            self._notice = error.message
            return
        if answer.granted is False:
            self._notice, self._refused_at = answer.why, self._get_refusal_context()
        elif not isinstance(request, Stop):
            self._notice = ""
        self._read_records()
