"""The notifier as an engine sees it: it is told what is durable, never fails, and lets the engine leave."""

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
from tests.support.waiting import TIMEOUT_SECONDS, wait_until
from tests.support.webhook_receiver import WebhookReceiver

ALONE = Settings(isolation=Isolation.IN_PLACE, retries=0, max_parallel=0)
JOURNAL = "j"


class NotifierHarness:
    """Notifiers one after another, as engines would make them."""

    def __init__(self, folder: Path, receiver: WebhookReceiver) -> None:
        self.folder, self.receiver = folder, receiver
        self.log: list[str] = []
        self._made: list[Notifier] = []

    def notifier(
        self,
        *,
        on: tuple[NotificationKind, ...] = DEFAULT_NOTIFICATION_KINDS,
        patience: float = 10.0,
        gather: float = 0.05,
    ) -> Notifier:
        hook = WebhookChannel(self.receiver.url, lambda: None, timeout=patience)
        options = NotifierOptions(on, "app", JOURNAL)
        made = Notifier(options, [hook], DeliveryLog(self.folder, JOURNAL), self.log.append, gather=gather)
        self._made.append(made)
        return made

    def close(self) -> None:
        for made in self._made:
            made.close()

    def titles(self, count: int) -> list[str]:
        return [json.loads(request.body)["title"] for request in self.receiver.wait_for_count(count)]


@pytest.fixture
def harness(tmp_path: Path, receiver: WebhookReceiver) -> Iterator[NotifierHarness]:
    made = NotifierHarness(tmp_path, receiver)
    yield made
    receiver.open.set()
    made.close()


def a_script(*names: str, began: float | None = None) -> Script:
    """A script that runs now."""
    script = Script(start=False)
    script.now = began or time.time()
    script.submit(*names, settings=ALONE)
    return script


def wait_until_idle(notifier: Notifier) -> None:
    wait_until(lambda: notifier.is_idle)


def replay(notifier: Notifier, records: list[Record]) -> None:
    for record in records:
        notifier.replay(record)


def test_a_durable_record_is_notified(harness: NotifierHarness) -> None:
    script, notifier = a_script("a"), harness.notifier()
    notifier.handle_records(script.state, script.records)
    assert notifier.is_idle
    seen = len(script.records)
    script.exit_attempt("a")
    notifier.handle_records(script.state, script.records[seen:])
    assert harness.titles(1) == ["batch b1 is done"]
    wait_until_idle(notifier)
    (request,) = harness.receiver.requests
    assert request.headers["Plait-Delivery"] == f"j:{script.records[-1].seq}:finished"


def test_without_notifications_there_is_no_thread(harness: NotifierHarness) -> None:
    script, notifier = a_script("a"), harness.notifier()
    notifier.handle_records(script.state, script.records)
    assert not notifier._thread.has_started


def test_only_requested_kinds_are_sent(harness: NotifierHarness) -> None:
    script, notifier = a_script("a"), harness.notifier(on=(NotificationKind.FAILED,))
    script.exit_attempt("a")
    notifier.handle_records(script.state, script.records)
    assert notifier.is_idle
    assert not notifier._thread.has_started


def test_a_hundred_failures_at_once_are_one_message(harness: NotifierHarness) -> None:
    names = [f"t{n:03}" for n in range(100)]
    script, notifier = a_script(*names), harness.notifier(on=(NotificationKind.TASK_FAILED,), gather=0.5)
    notifier.handle_records(script.state, script.records)
    for name in names:
        seen = len(script.records)
        script.exit_attempt(name, Category.TASK)
        notifier.handle_records(script.state, script.records[seen:])
    harness.receiver.wait_until(lambda letters: sum(_count(request.body) for request in letters) == 100)
    wait_until_idle(notifier)
    assert len(harness.receiver.requests) <= 2


def _count(body: bytes) -> int:
    first = json.loads(body)["title"].split()[0]
    return int(first) if first.isdigit() else 1


def test_the_next_engine_sends_what_the_last_one_did_not(harness: NotifierHarness) -> None:
    script, first = a_script("a"), harness.notifier()
    harness.receiver.down()
    first.handle_records(script.state, script.records)
    script.exit_attempt("a")
    died = len(script.records)
    first.handle_records(script.state, script.records[-1:])
    first.close()
    harness.receiver.up()
    second = harness.notifier()
    replay(second, script.records[:died])
    script.submit("b", settings=ALONE, batch="b2")
    second.handle_records(script.state, script.records[died:])
    assert harness.titles(1)[:1] == ["batch b1 is done"]


def test_a_sent_notification_is_not_sent_by_the_next_engine(harness: NotifierHarness) -> None:
    script, first = a_script("a"), harness.notifier()
    script.exit_attempt("a")
    first.handle_records(script.state, script.records)
    harness.titles(1)
    wait_until_idle(first)
    second, died = harness.notifier(), len(script.records)
    replay(second, script.records)
    script.submit("b", settings=ALONE, batch="b2")
    script.exit_attempt("b", batch="b2")
    second.handle_records(script.state, script.records[died:])
    assert harness.titles(2) == ["batch b1 is done", "batch b2 is done"]
    wait_until_idle(second)
    assert len(harness.receiver.requests) == 2


def test_old_notifications_are_not_sent_by_the_next_engine(harness: NotifierHarness) -> None:
    script, first = a_script("a", began=time.time() - 3700), harness.notifier()
    first.handle_records(script.state, script.records)
    script.exit_attempt("a")
    second = harness.notifier()
    replay(second, script.records)
    seen = len(script.records)
    script.now = time.time()
    script.submit("b", settings=ALONE, batch="b2")
    second.handle_records(script.state, script.records[seen:])
    assert second.is_idle
    assert not second._thread.has_started


def test_a_new_receiver_gets_nothing_from_before(harness: NotifierHarness) -> None:
    script = a_script("a")
    script.exit_attempt("a")
    seen, notifier = len(script.records), harness.notifier()
    replay(notifier, script.records)
    script.submit("b", settings=ALONE, batch="b2")
    notifier.handle_records(script.state, script.records[seen:])
    wait_until_idle(notifier)
    script.exit_attempt("b", batch="b2")
    notifier.handle_records(script.state, script.records[-1:])
    assert harness.titles(1) == ["batch b2 is done"]


def test_a_receiver_that_never_answers_does_not_delay_the_engine(
    harness: NotifierHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_WAIT_SECONDS", 0.2)
    harness.receiver.open.clear()
    script, notifier = a_script("a"), harness.notifier(patience=TIMEOUT_SECONDS)
    script.exit_attempt("a")
    began = time.monotonic()
    notifier.handle_records(script.state, script.records)
    assert not notifier.is_idle
    harness.receiver.wait_for_count(1)
    wait_until_idle(notifier)
    notifier.close()
    assert time.monotonic() - began < TIMEOUT_SECONDS  # it would still be waiting for the answer


def test_an_internal_error_is_only_logged(harness: NotifierHarness) -> None:
    notifier = harness.notifier()
    notifier.handle_records(State(), [object()])  # type: ignore[list-item]  # something that nobody thought of
    assert harness.log[0].startswith("warning: can't send notifications: AttributeError")


def test_the_thread_survives_an_unexpected_error(harness: NotifierHarness) -> None:
    class Odd:
        name, key = "odd://…", "odd"

        def send(self, _: NotificationMessage) -> None:
            raise ZeroDivisionError

    script = a_script("a")
    notifier = Notifier(
        NotifierOptions(DEFAULT_NOTIFICATION_KINDS, "app", JOURNAL),
        [Odd()],
        DeliveryLog(harness.folder, JOURNAL),
        harness.log.append,
        gather=0.0,
    )
    script.exit_attempt("a")
    notifier.handle_records(script.state, script.records)
    wait_until_idle(notifier)
    assert harness.log == ["warning: can't send a notification: ZeroDivisionError"]
    notifier.close()
