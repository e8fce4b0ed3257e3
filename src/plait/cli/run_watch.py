"""Following one batch to its end, or to where this front is not needed any more."""

from __future__ import annotations

import time
from enum import Enum, auto

from plait.cli.bell import Bell
from plait.cli.run_calls import Calls
from plait.cli.run_show import Show
from plait.core.decisions import TaskEnded
from plait.core.errors import WorldError
from plait.core.reports import SourcesWritten
from plait.core.requests import Approve, Pause, Request, Resume, Stop, Unpause
from plait.core.settings import WriteBack
from plait.core.state import BatchState
from plait.core.status import PauseCause
from plait.core.views import batch_view
from plait.front.asking import request_id
from plait.front.desk import Desk
from plait.ports import InboxError

GLANCE = 0.25  # seconds without news until keys and signals are looked at
GATHER = 0.05  # at least, between two readings of the journal
SETTLED = 3.0  # for the sources to be told how it ended
TEND = 1.0  # between two looks at the engine

_STOPPING = "stopping: agents are asked to end; Ctrl+C again to end them at once"
_STOPPING_NOW = "stopping at once"


class Parting(Enum):
    """Why following came to its end."""

    ENDED = auto()  # the batch has
    STOPPED = auto()  # by Ctrl+C, and can be resumed
    WAITS = auto()  # for a person, and none is here
    DETACHED = auto()  # a person went, and the batch goes on


class Watch:
    """`someone`: a person is here to answer what a batch may wait for; `bell`: and may have looked away."""

    def __init__(  # noqa: PLR0913 - each is a thing of its own, and named where it is given
        self, desk: Desk, batch: str, show: Show, calls: Calls, *, someone: bool, bell: bool = False
    ) -> None:
        self._desk, self._id, self._show, self._calls = desk, batch, show, calls
        self._bell = Bell(batch, wanted=bell)
        self._someone = someone
        self._stopped = 0  # how often a stop was asked for
        self._detached = False
        self._notice = ""
        self._trouble = ""
        self._refused: tuple[object, int] | None = None
        self._tended = time.monotonic()
        self._read = 0.0
        self._owed = self._settled = 0  # the last end of a task, and how far the sources were told

    @property
    def _batch(self) -> BatchState:
        batch = self._desk.state.batches.get(self._id)
        if batch is None:
            raise WorldError(f"batch {self._id} is gone: somebody has removed or replaced the journal")
        return batch

    def follow(self) -> Parting:
        self._take()
        while (parting := self._parting()) is None:
            if self._refused is not None and self._refused != self._standing():
                self._notice, self._refused = "", None  # what it was about is over
            self._show.refresh(self._trouble or self._notice)
            self._answer_calls()
            for key in self._show.pressed():
                self._press(key)
            if self._desk.wait(GLANCE):
                self._gather()
                self._take()
            if time.monotonic() - self._tended >= TEND:
                self._desk.tend()
                self._look_after()
                self._tended = time.monotonic()
        if parting is Parting.ENDED:
            self._await_sources()
        return parting

    def _look_after(self) -> None:
        """An engine that can't write its journal can't say so in it."""
        engine = self._desk.engine()
        trouble = engine.trouble if engine is not None else ""
        self._trouble = f"the engine can't go on: {trouble}" if trouble else ""

    def _take(self) -> None:
        told = self._desk.heard()
        for each in told:
            event = each.record.event
            if isinstance(event, TaskEnded) and event.batch == self._id:
                self._owed = each.record.seq
            elif isinstance(event, SourcesWritten) and event.batch == self._id:
                self._settled = max(self._settled, event.upto)
        self._show.take(told)
        self._bell.hear(self._desk.state, [each.record for each in told])

    def _await_sources(self) -> None:
        """Whoever reads a source after this has returned finds in it what was done; a source that can't be written is
        not waited for long.
        """
        batch = self._batch
        tells = batch.settings.write_back in {WriteBack.CHECKOUT, WriteBack.BOTH} and batch.sources
        deadline = time.monotonic() + SETTLED
        while tells and self._settled < self._owed and time.monotonic() < deadline:
            self._desk.wait(GLANCE)
            self._take()

    def _gather(self) -> None:
        """News that come thick and fast are told together."""
        pause = self._read + GATHER - time.monotonic()
        if pause > 0:
            time.sleep(pause)
        self._read = time.monotonic()

    def _parting(self) -> Parting | None:
        batch = self._batch
        if batch.ended is not None:
            return Parting.ENDED
        if self._detached or self._calls.leave is not None:
            return Parting.DETACHED
        if batch.alive:
            return None
        if self._stopped and batch.stopping:
            return Parting.STOPPED
        return Parting.WAITS if not self._someone and self._waits() else None

    def _waits(self) -> bool:
        """What somebody asked for a moment ago may change it."""
        return batch_view(self._desk.state, self._batch).waits_for_person and not self._desk.pending()

    def _answer_calls(self) -> None:
        if self._calls.stops > self._stopped:
            self._stopped = self._calls.stops
            now = self._stopped > 1
            self._notice, self._refused = _STOPPING_NOW if now else _STOPPING, None
            self._show.refresh(self._notice)
            self._ask(Stop(request_id(), self._id, now=now))

    def _press(self, key: str) -> None:
        match key:
            case "a" | "\n" | "\r":
                self._ask(Approve(request_id(), self._id))
            case "p":
                self._ask(self._pause_or_go_on())
            case "d" | "q":
                self._detached = True
            case _:
                pass

    def _pause_or_go_on(self) -> Request:
        paused = self._batch.paused
        if paused is None:
            return Pause(request_id(), self._id)
        if paused.cause is PauseCause.STOP:
            return Resume(request_id(), self._id)
        return Unpause(request_id(), self._id)

    def _standing(self) -> tuple[object, int]:
        """What a request is refused for: a pause, or that nothing of its kind is left."""
        return self._batch.paused, self._batch.unsettled

    def _ask(self, request: Request) -> None:
        """What can't be asked for now can be asked for again: this front stays."""
        try:
            answer = self._desk.ask(request)
        except InboxError as error:
            self._notice = error.message
            return
        if answer.granted is False:
            self._notice, self._refused = answer.why, self._standing()
        elif not isinstance(request, Stop):
            self._notice = ""
        self._take()
