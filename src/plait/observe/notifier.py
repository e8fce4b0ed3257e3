"""Send notifications from a thread of its own, with retries, each once even across engines."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from threading import Lock

from plait.core.events import Record
from plait.core.fast_dataclass import dataclass
from plait.core.notifications import (
    NOTIFYING_EVENTS,
    Notification,
    NotificationBuilder,
    bundle_notifications,
    group_by_kind,
)
from plait.core.settings import NotificationKind
from plait.core.state import State
from plait.observe.channels import DeliveryError, NotificationChannel, NotificationMessage, build_message
from plait.observe.delivery_thread import DeliveryThread
from plait.system.atomic_files import replace_file

MAX_WAIT_SECONDS = 75.0  # how long an engine stays for deliveries: enough for all retries
CLOSE_TIMEOUT_SECONDS = 1.0
GATHER_SECONDS = 1.0  # notifications within this time are sent together
RETRY_PAUSES = (1.0, 5.0, 15.0)  # seconds before the second, third and last try
MAX_AGE_SECONDS = 3600.0  # older notifications aren't sent
DELIVERY_LOG_FILE = "told.json"

_MAX_WAITING = 10_000  # notifications
_MAX_LOG_BYTES = 1 << 20  # a larger file isn't ours


@dataclass(frozen=True, slots=True)
class NotifierOptions:
    """The options of the notifier. `on`: the kinds to send; `project` and `journal` are named in messages."""

    on: Collection[NotificationKind]
    project: str
    journal: str


class Notifier:
    """Sends notifications. Public methods are called by the engine's thread; the queues belong to the notifier's."""

    def __init__(
        self,
        options: NotifierOptions,
        channels: Sequence[NotificationChannel],
        delivery_log: DeliveryLog,
        say: Callable[[str], None],
        *,
        gather: float = GATHER_SECONDS,
    ) -> None:
        self._options, self._say, self._gather = options, say, gather
        self._queues = [DeliveryQueue(each, delivery_log, self._build_message, say) for each in channels]
        self._builder = NotificationBuilder()
        self._past: list[Record] | None = []
        self._horizon = time.time() - MAX_AGE_SECONDS
        self._thread = DeliveryThread("notifier", self._deliver_due)
        # Shared between the threads:
        self._lock = Lock()
        self._new_notifications: list[Notification] = []
        self._last_seq = 0
        self._busy = False
        self._since = 0.0

    def replay(self, record: Record) -> None:
        """Keep a record that an earlier engine may not have notified about before it died."""
        if record.at >= self._horizon and self._past is not None and isinstance(record.event, NOTIFYING_EVENTS):
            self._past.append(record)

    def handle_records(self, state: State, records: Sequence[Record]) -> None:
        try:
            self._collect(state, records)
        except Exception as error:  # noqa: BLE001 - work doesn't depend on notifications
            self._say(f"warning: can't send notifications: {type(error).__name__}: {error}")

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being delivered. A receiver that doesn't answer for long doesn't count."""
        with self._lock:
            return not self._busy or time.monotonic() - self._since > MAX_WAIT_SECONDS

    def close(self) -> None:
        """Stop; the next engine sends what is left."""
        self._thread.stop()
        if self._thread.join(CLOSE_TIMEOUT_SECONDS):
            self._distribute()
            for queue in self._queues:
                queue.save()

    def _collect(self, state: State, records: Sequence[Record]) -> None:
        if not records:
            return
        past, self._past = self._past, None
        if past is not None:
            for queue in self._queues:
                queue.start_after(records[0].seq - 1)
        notifications = self._builder.add(state, [*(past or ()), *records])
        wanted = [notification for notification in notifications if notification.kind in self._options.on]
        with self._lock:
            self._last_seq = records[-1].seq
            if wanted:
                self._new_notifications += wanted
                self._busy, self._since = True, time.monotonic()
        if wanted:
            self._thread.wake()

    def _build_message(self, notification: Notification) -> NotificationMessage:
        return build_message(notification, self._options.project, self._options.journal)

    def _deliver_due(self) -> float | None:
        """Deliver what is due; return the seconds until the next delivery."""
        self._distribute()
        for queue in self._queues:
            if queue.due is not None and queue.due <= time.monotonic() and not self._thread.is_stopping:
                self._deliver(queue)
        dues = [queue.due for queue in self._queues if queue.due is not None]
        with self._lock:
            self._busy = bool(self._new_notifications or dues)
        return max(0.0, min(dues) - time.monotonic()) if dues else None

    def _deliver(self, queue: DeliveryQueue) -> None:
        try:
            queue.deliver(time.time())
        except Exception as error:  # noqa: BLE001 - the thread must survive
            self._say(f"warning: can't send a notification: {type(error).__name__}")

    def _distribute(self) -> None:
        with self._lock:
            notifications, self._new_notifications, last_seq = self._new_notifications, [], self._last_seq
        for queue in self._queues:
            queue.add(notifications, last_seq, self._gather)


class DeliveryQueue:
    """The queue of one channel, used by the notifier's thread. `due`: the next try, by the monotonic clock."""

    def __init__(
        self,
        channel: NotificationChannel,
        delivery_log: DeliveryLog,
        message: Callable[[Notification], NotificationMessage],
        say: Callable[[str], None],
        *,
        pauses: Sequence[float] = RETRY_PAUSES,
    ) -> None:
        self._channel, self._log, self._message, self._write_log = channel, delivery_log, message, say
        self._pauses = pauses
        self._waiting: list[Notification] = []
        self._done: set[tuple[int, str]] = set()  # sent, though an earlier one waits
        self._last_seq = 0
        self._tries = 0
        self._warned: set[str] = set()
        self.due: float | None = None

    def start_after(self, seq: int) -> None:
        """Start a new channel after this record: it gets nothing from before."""
        if self._log.find(self._channel.key) is None:
            self._record_cursor(DeliveryCursor(seq))

    def add(self, notifications: Sequence[Notification], last_seq: int, gather: float) -> None:
        """Add notifications; `last_seq` is the last record that they cover."""
        known = self._log.find(self._channel.key) or DeliveryCursor(0)
        fresh = [notification for notification in notifications if not known.covers(notification.id)]
        self._last_seq = max(self._last_seq, last_seq)
        if fresh:
            self._waiting = [*self._waiting, *fresh][-_MAX_WAITING:]
            self._tries, self.due = 0, time.monotonic() + gather

    def deliver(self, wall: float) -> None:
        """Send what waits; failures are retried, and in the end left until there is more to send."""
        self.due = None
        self._waiting = [notification for notification in self._waiting if notification.at > wall - MAX_AGE_SECONDS]
        for bundle in group_by_kind(self._waiting):
            try:
                self._channel.send(self._message(bundle_notifications(bundle)))
            except DeliveryError as error:
                if error.is_retryable:
                    self._retry_later(error)
                    return
                self._warn_undelivered(error)
            else:
                self._warned.clear()
            self._mark_delivered(bundle)

    def save(self) -> None:
        """Record everything before the first waiting notification as done."""
        upto = min((notification.seq for notification in self._waiting), default=self._last_seq + 1) - 1
        known = self._log.find(self._channel.key)
        self._done = {each for each in self._done if each[0] > upto}
        if known is not None and upto >= known.upto:
            self._record_cursor(DeliveryCursor(upto, frozenset(self._done)))

    def _mark_delivered(self, bundle: Sequence[Notification]) -> None:
        gone = {notification.id for notification in bundle}
        self._waiting = [notification for notification in self._waiting if notification.id not in gone]
        self._done |= gone
        self.save()

    def _retry_later(self, error: DeliveryError) -> None:
        if self._tries < len(self._pauses):
            self.due = time.monotonic() + self._pauses[self._tries]
        else:
            self._warn_undelivered(error)
        self._tries += 1

    def _record_cursor(self, mark: DeliveryCursor) -> None:
        try:
            self._log.record(self._channel.key, mark)
        except OSError as error:
            self._warn_once(f"can't record sent notifications, so they may be sent again: {error.strerror}")

    def _warn_undelivered(self, error: DeliveryError) -> None:
        hint = f" ({error.hint})" if error.hint else ""
        self._warn_once(f"could not notify {self._channel.name}: {error.message}{hint}")

    def _warn_once(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            self._write_log(f"warning: {text}")


@dataclass(frozen=True, slots=True)
class DeliveryCursor:
    """What was sent: all notifications of records up to `upto`, and those with ids in `also`."""

    upto: int
    also: frozenset[tuple[int, str]] = frozenset()

    def covers(self, notification: tuple[int, str]) -> bool:
        return notification[0] <= self.upto or notification in self.also


class DeliveryLog:
    """The delivery log of one journal: if the journal was replaced, it is empty. An unreadable file counts as empty."""

    def __init__(self, folder: Path, journal: str) -> None:
        self._path, self._journal = folder / DELIVERY_LOG_FILE, journal
        self._cursors = _read_cursors(self._path, journal)

    def find(self, channel: str) -> DeliveryCursor | None:
        """Return the cursor of a channel; None if nothing was sent to it yet."""
        return self._cursors.get(channel)

    def record(self, channel: str, mark: DeliveryCursor) -> None:
        """Record a cursor. Raises OSError if it can't be written; it is kept in memory all the same."""
        if self._cursors.get(channel) != mark:
            self._cursors[channel] = mark
            self._write()

    def _write(self) -> None:
        cursors = {name: {"upto": mark.upto, "also": sorted(mark.also)} for name, mark in self._cursors.items()}
        replace_file(self._path, json.dumps({"journal": self._journal, "told": cursors}).encode("ascii"))


def _read_cursors(path: Path, journal: str) -> dict[str, DeliveryCursor]:
    try:
        with path.open("rb") as file:
            content = json.loads(file.read(_MAX_LOG_BYTES))
        if content["journal"] != journal:
            return {}
        return {
            str(name): DeliveryCursor(int(mark["upto"]), frozenset((int(seq), str(kind)) for seq, kind in mark["also"]))
            for name, mark in content["told"].items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}
