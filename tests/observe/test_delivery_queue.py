"""The queue of one notification channel: retries, undelivered notifications, and the cursor."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from plait.core.notifications import Notification
from plait.core.settings import NotificationKind
from plait.observe.channels import DeliveryError, NotificationMessage, build_message
from plait.observe.notifier import MAX_AGE_SECONDS, DeliveryCursor, DeliveryLog, DeliveryQueue

K = NotificationKind
NOW = 1e9


class FakeChannel:
    """Keeps what is sent; `error` makes it fail."""

    name, key = "channel://…", "p"

    def __init__(self) -> None:
        self.messages: list[NotificationMessage] = []
        self.error: DeliveryError | None = None
        self.refuses: set[str] = set()

    def send(self, message: NotificationMessage) -> None:
        if self.error is not None:
            raise self.error
        if message.type in self.refuses:
            raise DeliveryError("it answered 400")
        self.messages.append(message)

    @property
    def seqs(self) -> list[int | None]:
        return [message.seq for message in self.messages]


class QueueHarness:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.channel = FakeChannel()
        self.log: list[str] = []
        self.reopen()

    def reopen(self) -> None:
        """Continue as the next engine would."""
        self.delivery_log = DeliveryLog(self.folder, "j")
        self.queue = DeliveryQueue(
            self.channel,
            self.delivery_log,
            lambda each: build_message(each, "app", "j"),
            self.log.append,
            pauses=(0.0, 0.0),
        )

    def add(self, *notifications: Notification, last_seq: int | None = None) -> None:
        self.queue.add(notifications, last_seq or max(each.seq for each in notifications), 0.0)

    def deliver(self, wall: float = NOW) -> int:
        """Deliver what is due; returns the number of tries."""
        tries = 0
        while self.queue.due is not None and self.queue.due <= time.monotonic():
            tries += 1
            self.queue.deliver(wall)
        return tries

    @property
    def cursor(self) -> DeliveryCursor | None:
        return DeliveryLog(self.folder, "j").find("p")


@pytest.fixture
def harness(tmp_path: Path) -> QueueHarness:
    made = QueueHarness(tmp_path)
    made.queue.start_after(0)
    return made


def notification(seq: int, kind: NotificationKind = K.FINISHED, at: float = NOW) -> Notification:
    return Notification(kind, "b", None, f"t{seq}", "", at, seq)


def test_a_delivered_notification_is_not_sent_again(harness: QueueHarness) -> None:
    harness.add(notification(3), last_seq=7)
    assert harness.deliver() == 1
    assert harness.channel.seqs == [3]
    assert harness.cursor == DeliveryCursor(7)
    harness.reopen()
    harness.add(notification(3), notification(8))
    harness.deliver()
    assert harness.channel.seqs == [3, 8]


def test_a_new_channel_gets_nothing_from_before(tmp_path: Path) -> None:
    harness = QueueHarness(tmp_path)
    harness.queue.start_after(5)
    assert harness.cursor == DeliveryCursor(5)
    harness.add(notification(4))
    assert harness.queue.due is None


def test_a_known_channel_continues_at_its_cursor(harness: QueueHarness) -> None:
    harness.reopen()
    harness.queue.start_after(9)
    assert harness.cursor == DeliveryCursor(0)
    harness.add(notification(4))
    harness.deliver()
    assert harness.channel.seqs == [4]


def test_several_notifications_of_a_kind_are_one_message(harness: QueueHarness) -> None:
    harness.add(*(notification(seq, K.TASK_FAILED) for seq in range(1, 101)))
    harness.deliver()
    (message,) = harness.channel.messages
    assert message.title == "100 tasks have failed in batch b"
    assert message.delivery == "j:100:task_failed"


def test_an_unreachable_channel_is_retried_and_logged_once(harness: QueueHarness) -> None:
    harness.channel.error = DeliveryError("unreachable", is_retryable=True)
    harness.add(notification(1))
    assert harness.deliver() == 3
    assert harness.log == ["warning: could not notify channel://…: unreachable"]
    harness.add(notification(2, K.LIMIT))
    harness.deliver()
    assert len(harness.log) == 1
    assert harness.cursor == DeliveryCursor(0)


def test_an_undelivered_notification_is_sent_with_the_next_one(harness: QueueHarness) -> None:
    harness.channel.error = DeliveryError("unreachable", is_retryable=True)
    harness.add(notification(1))
    harness.deliver()
    harness.channel.error = None
    harness.add(notification(2, K.LIMIT))
    harness.deliver()
    assert harness.channel.seqs == [1, 2]
    assert harness.cursor == DeliveryCursor(2)


def test_an_undelivered_notification_is_sent_by_the_next_engine(harness: QueueHarness) -> None:
    harness.channel.error = DeliveryError("unreachable", is_retryable=True)
    harness.add(notification(1), last_seq=4)
    harness.deliver()
    harness.queue.save()
    assert harness.cursor == DeliveryCursor(0)
    harness.channel.error = None
    harness.reopen()
    harness.add(notification(1), last_seq=6)
    harness.deliver()
    assert harness.channel.seqs == [1]
    assert harness.cursor == DeliveryCursor(6)


def test_a_rejected_notification_does_not_block_others(harness: QueueHarness) -> None:
    harness.channel.refuses = {K.LIMIT.value}
    harness.add(notification(1, K.LIMIT), notification(2))
    assert harness.deliver() == 1
    assert harness.channel.seqs == [2]
    assert harness.log == ["warning: could not notify channel://…: it answered 400"]
    assert harness.cursor == DeliveryCursor(2)


def test_a_sent_notification_is_not_repeated_when_an_earlier_one_failed(harness: QueueHarness) -> None:
    """The second of three messages fails, so sent and unsent notifications alternate."""
    calls = 0

    class Flickering(FakeChannel):
        def send(self, message: NotificationMessage) -> None:
            nonlocal calls
            calls += 1
            if calls > 1:
                raise DeliveryError("unreachable", is_retryable=True)
            super().send(message)

    harness.channel = Flickering()
    harness.reopen()
    harness.add(notification(1, K.LIMIT), notification(2), notification(3, K.LIMIT), last_seq=9)
    harness.deliver()
    assert harness.channel.seqs == [2]
    assert harness.cursor == DeliveryCursor(0, frozenset({(2, "finished")}))
    harness.channel = FakeChannel()
    harness.reopen()
    harness.add(notification(1, K.LIMIT), notification(2), notification(3, K.LIMIT), last_seq=10)
    harness.deliver()
    assert harness.channel.seqs == [3]
    assert harness.cursor == DeliveryCursor(10)


def test_old_notifications_are_dropped(harness: QueueHarness) -> None:
    harness.add(notification(1, at=NOW - MAX_AGE_SECONDS - 1), notification(2, at=NOW - MAX_AGE_SECONDS + 1))
    harness.deliver()
    assert [message.title for message in harness.channel.messages] == ["t2"]


def test_records_without_notifications_move_the_cursor_at_the_end(harness: QueueHarness) -> None:
    harness.add(notification(1))
    harness.deliver()
    harness.queue.add((), 50, 0.0)
    assert harness.cursor == DeliveryCursor(1)
    harness.queue.save()
    assert harness.cursor == DeliveryCursor(50)


def test_a_full_disk_does_not_prevent_notifications(harness: QueueHarness) -> None:
    harness.delivery_log._path = harness.folder / "gone" / "told.json"
    harness.add(notification(1))
    harness.deliver()
    assert harness.channel.seqs == [1]
    assert "can't record sent notifications" in harness.log[0]
