"""The way to one addressee: what waits to be told there, and when it is tried again."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from plait.core.notifications__tiding import Notification
from plait.core.notifications__tidings_words import bundle_notifications, group_by_kind
from plait.observe.channels__message import DeliveryError, NotificationChannel, NotificationMessage
from plait.observe.notifier__memory import DeliveryCursor, DeliveryLog

GATHER_SECONDS = 1.0  # seconds: what happens at once is told at once
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
