"""The messenger as an engine sees it: it is told what is durable, never fails, and lets the engine leave."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.core.events import Record
from plait.core.settings import DEFAULT_NOTIFICATION_KINDS, Isolation, NotificationKind, Settings
from plait.core.state import State
from plait.core.status import Category
from plait.observe import notifier as module
from plait.observe.channels import NotificationMessage, WebhookChannel
from plait.observe.notifier import DeliveryLog, Notifier, NotifierOptions
from plait.testing.script import Script
from tests.support.webhook_receiver import WAIT_SECONDS, WebhookReceiver

ALONE = Settings(isolation=Isolation.IN_PLACE, retries=0, max_parallel=0)
JOURNAL = "j"


class NotifierHarness:
    """Messengers one after another, as engines would make them."""

    def __init__(self, folder: Path, receiver: WebhookReceiver) -> None:
        self.folder, self.receiver = folder, receiver
        self.log: list[str] = []
        self._made: list[Notifier] = []

    def messenger(
        self, *, on: tuple[NotificationKind, ...] = DEFAULT_NOTIFICATION_KINDS, patience: float = 10.0
    ) -> Notifier:
        hook = WebhookChannel(self.receiver.url, lambda: None, timeout=patience)
        errand = NotifierOptions(on, "app", JOURNAL)
        made = Notifier(errand, [hook], DeliveryLog(self.folder, JOURNAL), self.log.append, gather=0.05)
        self._made.append(made)
        return made

    def close(self) -> None:
        for made in self._made:
            made.close()

    def titles(self, count: int) -> list[str]:
        return [json.loads(letter.body)["title"] for letter in self.receiver.wait_for_count(count)]


@pytest.fixture
def harness(tmp_path: Path, receiver: WebhookReceiver) -> Iterator[NotifierHarness]:
    made = NotifierHarness(tmp_path, receiver)
    yield made
    receiver.open.set()
    made.close()


def a_script(*names: str, began: float | None = None) -> Script:
    """It happens now."""
    script = Script(start=False)
    script.now = began or time.time()
    script.submit(*names, settings=ALONE)
    return script


def rest(messenger: Notifier) -> None:
    deadline = time.monotonic() + WAIT_SECONDS
    while not messenger.is_idle:
        assert time.monotonic() < deadline
        time.sleep(0.01)


def replay(messenger: Notifier, records: list[Record]) -> None:
    for record in records:
        messenger.replay(record)


def test_what_became_durable_is_told(harness: NotifierHarness) -> None:
    script, messenger = a_script("a"), harness.messenger()
    messenger.handle_records(script.state, script.records)
    assert messenger.is_idle
    seen = len(script.records)
    script.exit_attempt("a")
    messenger.handle_records(script.state, script.records[seen:])
    assert harness.titles(1) == ["batch b1 is done"]
    rest(messenger)
    (letter,) = harness.receiver.requests
    assert letter.headers["Plait-Delivery"] == f"j:{script.records[-1].seq}:finished"


def test_without_news_there_is_no_thread(harness: NotifierHarness) -> None:
    script, messenger = a_script("a"), harness.messenger()
    messenger.handle_records(script.state, script.records)
    assert not messenger._thread.has_started


def test_only_what_was_asked_for_is_told(harness: NotifierHarness) -> None:
    script, messenger = a_script("a"), harness.messenger(on=(NotificationKind.FAILED,))
    script.exit_attempt("a")
    messenger.handle_records(script.state, script.records)
    assert messenger.is_idle
    assert not messenger._thread.has_started


def test_a_hundred_failures_at_once_are_one_message(harness: NotifierHarness) -> None:
    names = [f"t{n:03}" for n in range(100)]
    script, messenger = a_script(*names), harness.messenger(on=(NotificationKind.TASK_FAILED,))
    messenger.handle_records(script.state, script.records)
    for name in names:
        seen = len(script.records)
        script.exit_attempt(name, Category.TASK)
        messenger.handle_records(script.state, script.records[seen:])
    harness.receiver.wait_until(lambda letters: sum(_count(letter.body) for letter in letters) == 100)
    rest(messenger)
    assert len(harness.receiver.requests) <= 2


def _count(body: bytes) -> int:
    first = json.loads(body)["title"].split()[0]
    return int(first) if first.isdigit() else 1


def test_an_engine_that_left_before_it_told_leaves_it_to_the_next(harness: NotifierHarness) -> None:
    script, first = a_script("a"), harness.messenger()
    harness.receiver.down()
    first.handle_records(script.state, script.records)
    script.exit_attempt("a")
    died = len(script.records)
    first.handle_records(script.state, script.records[-1:])
    first.close()
    harness.receiver.up()
    second = harness.messenger()
    replay(second, script.records[:died])
    script.submit("b", settings=ALONE, batch="b2")
    second.handle_records(script.state, script.records[died:])
    assert harness.titles(1)[:1] == ["batch b1 is done"]


def test_what_was_told_is_not_told_by_the_next(harness: NotifierHarness) -> None:
    script, first = a_script("a"), harness.messenger()
    script.exit_attempt("a")
    first.handle_records(script.state, script.records)
    harness.titles(1)
    rest(first)
    second, died = harness.messenger(), len(script.records)
    replay(second, script.records)
    script.submit("b", settings=ALONE, batch="b2")
    script.exit_attempt("b", batch="b2")
    second.handle_records(script.state, script.records[died:])
    assert harness.titles(2) == ["batch b1 is done", "batch b2 is done"]
    rest(second)
    assert len(harness.receiver.requests) == 2


def test_nothing_that_is_long_past_is_told_by_the_next(harness: NotifierHarness) -> None:
    script, first = a_script("a", began=time.time() - 3700), harness.messenger()
    first.handle_records(script.state, script.records)
    script.exit_attempt("a")
    second = harness.messenger()
    replay(second, script.records)
    seen = len(script.records)
    script.now = time.time()
    script.submit("b", settings=ALONE, batch="b2")
    second.handle_records(script.state, script.records[seen:])
    assert second.is_idle
    assert not second._thread.has_started


def test_who_has_just_been_named_is_told_nothing_of_before(harness: NotifierHarness) -> None:
    script = a_script("a")
    script.exit_attempt("a")
    seen, messenger = len(script.records), harness.messenger()
    replay(messenger, script.records)
    script.submit("b", settings=ALONE, batch="b2")
    messenger.handle_records(script.state, script.records[seen:])
    rest(messenger)
    script.exit_attempt("b", batch="b2")
    messenger.handle_records(script.state, script.records[-1:])
    assert harness.titles(1) == ["batch b2 is done"]


def test_a_receiver_that_says_nothing_holds_nobody_up(
    harness: NotifierHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_WAIT_SECONDS", 0.2)
    harness.receiver.open.clear()
    script, messenger = a_script("a"), harness.messenger(patience=WAIT_SECONDS)
    script.exit_attempt("a")
    began = time.monotonic()
    messenger.handle_records(script.state, script.records)
    assert not messenger.is_idle
    harness.receiver.wait_for_count(1)
    rest(messenger)
    messenger.close()
    assert time.monotonic() - began < WAIT_SECONDS  # it would still be waiting for the answer


def test_what_goes_wrong_inside_is_told_to_the_log_and_to_nobody_else(harness: NotifierHarness) -> None:
    messenger = harness.messenger()
    messenger.handle_records(State(), [object()])  # type: ignore[list-item]  # something that nobody thought of
    assert harness.log[0].startswith("warning: can't send notifications: AttributeError")


def test_a_thread_that_meets_the_unforeseen_goes_on(harness: NotifierHarness) -> None:
    class Odd:
        name, key = "odd://…", "odd"

        def send(self, _: NotificationMessage) -> None:
            raise ZeroDivisionError

    script = a_script("a")
    messenger = Notifier(
        NotifierOptions(DEFAULT_NOTIFICATION_KINDS, "app", JOURNAL),
        [Odd()],
        DeliveryLog(harness.folder, JOURNAL),
        harness.log.append,
        gather=0.0,
    )
    script.exit_attempt("a")
    messenger.handle_records(script.state, script.records)
    rest(messenger)
    assert harness.log == ["warning: can't send a notification: ZeroDivisionError"]
    messenger.close()
