"""The messenger: an onlooker with a thread of its own. It may be slow, or fail, and the engine does not notice."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from threading import Condition, Thread

from plait.core.events import Record
from plait.core.fast_dataclass import dataclass
from plait.core.notifications import NOTIFYING_EVENTS, NotificationBuilder
from plait.core.notifications__tiding import Notification, NotificationKind
from plait.core.state import State
from plait.observe.channels__message import NotificationChannel, NotificationMessage, build_message
from plait.observe.notifier__memory import DeliveryLog
from plait.observe.notifier__route import GATHER_SECONDS, MAX_AGE_SECONDS, DeliveryQueue

MAX_WAIT_SECONDS = 75.0  # seconds after the last news for which an engine stays: all tries fit in, where receivers answer at all
CLOSE_TIMEOUT_SECONDS = 1.0  # seconds for the thread to end


@dataclass(frozen=True, slots=True)
class NotifierOptions:
    """`on`: what is told; `project` and `journal` are what messages name."""

    on: Collection[NotificationKind]
    project: str
    journal: str


class Notifier:
    """`replay`, `hear`, `at_rest` and `close` are the engine's thread's; the routes belong to the other one."""

    def __init__(
        self,
        errand: NotifierOptions,
        addressees: Sequence[NotificationChannel],
        memory: DeliveryLog,
        say: Callable[[str], None],
        *,
        gather: float = GATHER_SECONDS,
    ) -> None:
        self._options, self._say, self._gather = errand, say, gather
        self._queues = [DeliveryQueue(each, memory, self._build_message, say) for each in addressees]
        self._tidings = NotificationBuilder()
        self._past: list[Record] | None = []
        self._horizon = time.time() - MAX_AGE_SECONDS
        self._thread: Thread | None = None
        # What follows is shared.
        self._changed = Condition()
        self._new_notifications: list[Notification] = []
        self._heard = 0
        self._busy = False
        self._since = 0.0
        self._closing = False

    def replay(self, record: Record) -> None:
        """An earlier engine may have died before it told this."""
        if (
            record.at >= self._horizon
            and self._past is not None
            and isinstance(record.event, NOTIFYING_EVENTS)
        ):
            self._past.append(record)

    def handle_records(self, state: State, records: Sequence[Record]) -> None:
        try:
            self._collect(state, records)
        except Exception as error:  # noqa: BLE001 - nobody's work depends on news of it
            self._say(f"warning: messages are not sent: {type(error).__name__}: {error}")

    @property
    def is_idle(self) -> bool:
        """A receiver that keeps the line open and says nothing is not waited for."""
        with self._changed:
            return not self._busy or time.monotonic() - self._since > MAX_WAIT_SECONDS

    def close(self) -> None:
        """What waits is told by the next engine."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        if self._thread is not None:
            self._thread.join(CLOSE_TIMEOUT_SECONDS)
        if self._thread is None or not self._thread.is_alive():
            self._distribute()
            for route in self._queues:
                route.save()

    def _collect(self, state: State, records: Sequence[Record]) -> None:
        if not records:
            return
        past, self._past = self._past, None
        if past is not None:
            for route in self._queues:
                route.start_after(records[0].seq - 1)
        found = self._tidings.add(state, [*(past or ()), *records])
        wanted = [tiding for tiding in found if tiding.kind in self._options.on]
        with self._changed:
            self._heard = records[-1].seq
            if wanted:
                self._new_notifications += wanted
                self._busy, self._since = True, time.monotonic()
                self._changed.notify()
        if wanted and self._thread is None:
            self._thread = Thread(target=self._run, name="messenger", daemon=True)
            self._thread.start()

    def _build_message(self, tiding: Notification) -> NotificationMessage:
        return build_message(tiding, self._options.project, self._options.journal)

    def _run(self) -> None:
        while self._wait_for_work():
            self._distribute()
            for route in self._queues:
                if route.due is not None and route.due <= time.monotonic() and not self._closing:
                    self._deliver(route)
            with self._changed:
                self._busy = bool(self._new_notifications) or any(
                    route.due is not None for route in self._queues
                )

    def _deliver(self, route: DeliveryQueue) -> None:
        try:
            route.deliver(time.time())
        except Exception as error:  # noqa: BLE001 - the thread must not die: nobody would be told anything any more
            self._say(f"warning: a message was not sent: {type(error).__name__}")

    def _wait_for_work(self) -> bool:
        """Until there is something to do; False when all is over."""
        with self._changed:
            while not self._closing and not self._new_notifications:
                dues = [route.due for route in self._queues if route.due is not None]
                left = min(dues) - time.monotonic() if dues else None
                if left is not None and left <= 0:
                    break
                self._changed.wait(left)
            return not self._closing

    def _distribute(self) -> None:
        with self._changed:
            news, self._new_notifications, heard = self._new_notifications, [], self._heard
        for route in self._queues:
            route.add(news, heard, self._gather)
