"""The messenger: an onlooker with a thread of its own. It may be slow, or fail, and the engine does not notice.

The way to one addressee: what waits to be told there, and when it is tried again.

What was told already, in a small file: no engine tells again what an earlier one has told.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from threading import Condition, Thread

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
from plait.system.atomic_files import replace_file

MAX_WAIT_SECONDS = (
    75.0  # seconds after the last news for which an engine stays: all tries fit in, where receivers answer at all
)


CLOSE_TIMEOUT_SECONDS = 1.0  # seconds for the thread to end


@dataclass(frozen=True, slots=True)
class NotifierOptions:
    """`on`: what is told; `project` and `journal` are what messages name."""

    on: Collection[NotificationKind]
    project: str
    journal: str


GATHER_SECONDS = 1.0  # seconds: what happens at once is told at once


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
        if record.at >= self._horizon and self._past is not None and isinstance(record.event, NOTIFYING_EVENTS):
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
                self._busy = bool(self._new_notifications) or any(route.due is not None for route in self._queues)

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


RETRY_PAUSES = (1.0, 5.0, 15.0)  # seconds before the second try, the third, the last


MAX_AGE_SECONDS = 3600.0  # seconds after which something is no news any more


_MAX_WAITING = 10_000  # tidings that wait


class DeliveryQueue:
    """Belongs to the thread that delivers. `due`: when there is something to do, by the monotonic clock."""

    def __init__(
        self,
        addressee: NotificationChannel,
        memory: DeliveryLog,
        message: Callable[[Notification], NotificationMessage],
        say: Callable[[str], None],
        *,
        pauses: Sequence[float] = RETRY_PAUSES,
    ) -> None:
        self._channel, self._log, self._message, self._write_log = addressee, memory, message, say
        self._pauses = pauses
        self._waiting: list[Notification] = []
        self._done: set[tuple[int, str]] = set()  # told, though something before it waits
        self._heard = 0
        self._tries = 0
        self._said: set[str] = set()
        self.due: float | None = None

    def start_after(self, seq: int) -> None:
        """Whoever is new is told nothing of what happened before."""
        if self._log.find(self._channel.key) is None:
            self._record_cursor(DeliveryCursor(seq))

    def add(self, tidings: Sequence[Notification], heard: int, gather: float) -> None:
        """`heard`: these are all that follow from the records up to there."""
        known = self._log.find(self._channel.key) or DeliveryCursor(0)
        fresh = [tiding for tiding in tidings if not known.covers(tiding.id)]
        self._heard = max(self._heard, heard)
        if fresh:
            self._waiting = [*self._waiting, *fresh][-_MAX_WAITING:]
            self._tries, self.due = 0, time.monotonic() + gather

    def deliver(self, wall: float) -> None:
        """Tell what waits. What was not to be told now is tried again, and in the end left for when there is more."""
        self.due = None
        self._waiting = [tiding for tiding in self._waiting if tiding.at > wall - MAX_AGE_SECONDS]
        for bundle in group_by_kind(self._waiting):
            try:
                self._channel.send(self._message(bundle_notifications(bundle)))
            except DeliveryError as error:
                if error.is_retryable:
                    self._retry_later(error)
                    return
                self._warn_undelivered(error)
            else:
                self._said.clear()
            self._mark_delivered(bundle)

    def save(self) -> None:
        """What was heard need not be looked at again, but for what waits."""
        upto = min((tiding.seq for tiding in self._waiting), default=self._heard + 1) - 1
        known = self._log.find(self._channel.key)
        self._done = {each for each in self._done if each[0] > upto}
        if known is not None and upto >= known.upto:
            self._record_cursor(DeliveryCursor(upto, frozenset(self._done)))

    def _mark_delivered(self, bundle: Sequence[Notification]) -> None:
        gone = {tiding.id for tiding in bundle}
        self._waiting = [tiding for tiding in self._waiting if tiding.id not in gone]
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
            self._warn_once(f"what was told can't be kept, and may be told again: {error.strerror}")

    def _warn_undelivered(self, error: DeliveryError) -> None:
        hint = f" ({error.hint})" if error.hint else ""
        self._warn_once(f"{self._channel.name} is not told: {error.message}{hint}")

    def _warn_once(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._write_log(f"warning: {text}")


DELIVERY_LOG_FILE = "told.json"


_MAX_LOG_BYTES = 1 << 20  # bytes; a larger one is not ours


@dataclass(frozen=True, slots=True)
class DeliveryCursor:
    """All tidings of the records up to `upto`, and of later ones `also`, by their ids."""

    upto: int
    also: frozenset[tuple[int, str]] = frozenset()

    def covers(self, tiding: tuple[int, str]) -> bool:
        return tiding[0] <= self.upto or tiding in self.also


class DeliveryLog:
    """Of one journal: where that was replaced, nothing was told. A file that says nothing sensible says nothing."""

    def __init__(self, folder: Path, journal: str) -> None:
        self._path, self._journal = folder / DELIVERY_LOG_FILE, journal
        self._cursors = _read_cursors(self._path, journal)

    def find(self, addressee: str) -> DeliveryCursor | None:
        """None: nobody has told this one anything yet."""
        return self._cursors.get(addressee)

    def record(self, addressee: str, mark: DeliveryCursor) -> None:
        """Raises OSError where it can't be kept; then it is known here all the same."""
        if self._cursors.get(addressee) != mark:
            self._cursors[addressee] = mark
            self._write()

    def _write(self) -> None:
        marks = {name: {"upto": mark.upto, "also": sorted(mark.also)} for name, mark in self._cursors.items()}
        replace_file(self._path, json.dumps({"journal": self._journal, "told": marks}).encode("ascii"))


def _read_cursors(path: Path, journal: str) -> dict[str, DeliveryCursor]:
    try:
        with path.open("rb") as file:
            said = json.loads(file.read(_MAX_LOG_BYTES))
        if said["journal"] != journal:
            return {}
        return {
            str(name): DeliveryCursor(int(mark["upto"]), frozenset((int(seq), str(kind)) for seq, kind in mark["also"]))
            for name, mark in said["told"].items()
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return {}
