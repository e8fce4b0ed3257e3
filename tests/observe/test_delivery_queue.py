"""The way to one addressee: what is tried again, what is given up, what is remembered."""

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


class Person:
    """Hears what is sent, unless told not to."""

    name, key = "person://…", "p"

    def __init__(self) -> None:
        self.heard: list[NotificationMessage] = []
        self.deaf: DeliveryError | None = None
        self.refuses: set[str] = set()

    def send(self, message: NotificationMessage) -> None:
        if self.deaf is not None:
            raise self.deaf
        if message.type in self.refuses:
            raise DeliveryError("it answered 400")
        self.heard.append(message)

    @property
    def seqs(self) -> list[int | None]:
        return [message.seq for message in self.heard]


class Scene:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.person = Person()
        self.log: list[str] = []
        self.anew()

    def anew(self) -> None:
        """As another engine would begin."""
        self.memory = DeliveryLog(self.folder, "j")
        self.route = DeliveryQueue(
            self.person,
            self.memory,
            lambda tiding: build_message(tiding, "app", "j"),
            self.log.append,
            pauses=(0.0, 0.0),
        )

    def take(self, *tidings: Notification, heard: int | None = None) -> None:
        self.route.add(tidings, heard or max(each.seq for each in tidings), 0.0)

    def deliver(self, wall: float = NOW) -> int:
        """All that is due; how often that was tried."""
        tries = 0
        while self.route.due is not None and self.route.due <= time.monotonic():
            tries += 1
            self.route.deliver(wall)
        return tries

    @property
    def mark(self) -> DeliveryCursor | None:
        return DeliveryLog(self.folder, "j").find("p")


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    made = Scene(tmp_path)
    made.route.start_after(0)
    return made


def told(seq: int, kind: NotificationKind = K.FINISHED, at: float = NOW) -> Notification:
    return Notification(kind, "b", None, f"t{seq}", "", at, seq)


def test_what_was_delivered_is_remembered_and_not_told_again(scene: Scene) -> None:
    scene.take(told(3), heard=7)
    assert scene.deliver() == 1
    assert scene.person.seqs == [3]
    assert scene.mark == DeliveryCursor(7)
    scene.anew()
    scene.take(told(3), told(8))
    scene.deliver()
    assert scene.person.seqs == [3, 8]


def test_nothing_that_happened_before_is_told_to_who_is_new(tmp_path: Path) -> None:
    scene = Scene(tmp_path)
    scene.route.start_after(5)
    assert scene.mark == DeliveryCursor(5)
    scene.take(told(4))
    assert scene.route.due is None


def test_who_is_known_goes_on_where_it_was(scene: Scene) -> None:
    scene.anew()
    scene.route.start_after(9)
    assert scene.mark == DeliveryCursor(0)
    scene.take(told(4))
    scene.deliver()
    assert scene.person.seqs == [4]


def test_many_of_a_kind_are_one_message(scene: Scene) -> None:
    scene.take(*(told(seq, K.TASK_FAILED) for seq in range(1, 101)))
    scene.deliver()
    (message,) = scene.person.heard
    assert message.title == "100 tasks have failed in batch b"
    assert message.delivery == "j:100:task_failed"


def test_who_can_t_be_reached_is_tried_some_times_and_complained_about_once(scene: Scene) -> None:
    scene.person.deaf = DeliveryError("nobody there", is_retryable=True)
    scene.take(told(1))
    assert scene.deliver() == 3
    assert scene.log == ["warning: could not notify person://…: nobody there"]
    scene.take(told(2, K.LIMIT))
    scene.deliver()
    assert len(scene.log) == 1
    assert scene.mark == DeliveryCursor(0)


def test_what_was_given_up_is_told_with_the_next_news(scene: Scene) -> None:
    scene.person.deaf = DeliveryError("nobody there", is_retryable=True)
    scene.take(told(1))
    scene.deliver()
    scene.person.deaf = None
    scene.take(told(2, K.LIMIT))
    scene.deliver()
    assert scene.person.seqs == [1, 2]
    assert scene.mark == DeliveryCursor(2)


def test_what_was_given_up_is_told_by_the_next_engine(scene: Scene) -> None:
    scene.person.deaf = DeliveryError("nobody there", is_retryable=True)
    scene.take(told(1), heard=4)
    scene.deliver()
    scene.route.save()
    assert scene.mark == DeliveryCursor(0)
    scene.person.deaf = None
    scene.anew()
    scene.take(told(1), heard=6)
    scene.deliver()
    assert scene.person.seqs == [1]
    assert scene.mark == DeliveryCursor(6)


def test_what_is_refused_for_good_keeps_nothing_else_from_being_told(scene: Scene) -> None:
    scene.person.refuses = {K.LIMIT.value}
    scene.take(told(1, K.LIMIT), told(2))
    assert scene.deliver() == 1
    assert scene.person.seqs == [2]
    assert scene.log == ["warning: could not notify person://…: it answered 400"]
    assert scene.mark == DeliveryCursor(2)


def test_a_later_one_that_was_told_is_not_told_again_for_an_earlier_one_that_was_not(scene: Scene) -> None:
    """Of three messages the second finds nobody: what was told and what was not lie between each other."""
    calls = 0

    class Flickering(Person):
        def send(self, message: NotificationMessage) -> None:
            nonlocal calls
            calls += 1
            if calls > 1:
                raise DeliveryError("nobody there", is_retryable=True)
            super().send(message)

    scene.person = Flickering()
    scene.anew()
    scene.take(told(1, K.LIMIT), told(2), told(3, K.LIMIT), heard=9)
    scene.deliver()
    assert scene.person.seqs == [2]
    assert scene.mark == DeliveryCursor(0, frozenset({(2, "finished")}))
    scene.person = Person()
    scene.anew()
    scene.take(told(1, K.LIMIT), told(2), told(3, K.LIMIT), heard=10)
    scene.deliver()
    assert scene.person.seqs == [3]
    assert scene.mark == DeliveryCursor(10)


def test_what_is_too_old_is_no_news(scene: Scene) -> None:
    scene.take(told(1, at=NOW - MAX_AGE_SECONDS - 1), told(2, at=NOW - MAX_AGE_SECONDS + 1))
    scene.deliver()
    assert [message.title for message in scene.person.heard] == ["t2"]


def test_what_was_heard_without_news_is_remembered_at_the_end(scene: Scene) -> None:
    scene.take(told(1))
    scene.deliver()
    scene.route.add((), 50, 0.0)
    assert scene.mark == DeliveryCursor(1)
    scene.route.save()
    assert scene.mark == DeliveryCursor(50)


def test_a_full_disk_keeps_nobody_from_being_told(scene: Scene) -> None:
    scene.memory._path = scene.folder / "gone" / "told.json"
    scene.take(told(1))
    scene.deliver()
    assert scene.person.seqs == [1]
    assert "can't record sent notifications" in scene.log[0]
