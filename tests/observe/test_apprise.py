"""Everybody else, through apprise: it is the real one, and sends to a receiver on this machine."""

from __future__ import annotations

import json
import sys

import pytest

from plait.core.notifications import Notification
from plait.core.settings import NotificationKind
from plait.observe.channels import (
    _APPRISE_TYPES,
    TEST_TYPE,
    AppriseChannel,
    DeliveryError,
    build_message,
    build_test_message,
)
from tests.support.webhook_receiver import WebhookReceiver

# Its modules for other services are imported too, and what those import may be on its way out.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
TIDING = Notification(NotificationKind.FAILED, "7f3a", None, "batch 7f3a has ended", "1 failed\n<b>03</b>", 1e9, 412)


def to(receiver: WebhookReceiver) -> AppriseChannel:
    return AppriseChannel(f"json://127.0.0.1:{receiver.port}/hunter2")


def test_a_message_arrives(receiver: WebhookReceiver, capfd: pytest.CaptureFixture[str]) -> None:
    to(receiver).send(build_message(TIDING, "app", "j"))
    (letter,) = receiver.requests
    said = json.loads(letter.body)
    assert said["title"] == "app: batch 7f3a has ended"
    assert said["message"] == "1 failed\n<b>03</b>"
    assert said["type"] == "failure"
    assert "hunter2" not in "".join(capfd.readouterr())


@pytest.mark.parametrize("status", [404, 500])
def test_a_refusal_is_retried_and_names_only_the_service(
    receiver: WebhookReceiver, status: int, capfd: pytest.CaptureFixture[str]
) -> None:
    receiver.status = status
    with pytest.raises(DeliveryError) as caught:
        to(receiver).send(build_test_message("app", 0.0))
    assert caught.value.is_retryable
    assert "hunter2" not in f"{caught.value}{caught.value.hint}{to(receiver).name}"
    assert to(receiver).name == "json://…"
    assert "hunter2" not in "".join(capfd.readouterr())


@pytest.mark.parametrize("url", ["nosuchservice://hunter2/x", "slack://hunter2"])
def test_an_address_unknown_to_apprise_is_not_retried(url: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(DeliveryError, match="doesn't know this kind of address") as caught:
        AppriseChannel(url).send(build_test_message("app", 0.0))
    assert not caught.value.is_retryable
    assert "hunter2" not in "".join(capfd.readouterr()) + str(caught.value) + caught.value.hint


def test_without_the_extra_the_error_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    with pytest.raises(DeliveryError, match="isn't installed") as caught:
        AppriseChannel("json://127.0.0.1").send(build_test_message("app", 0.0))
    assert caught.value.hint == "pip install 'plait[notify]'"
    assert not caught.value.is_retryable


def test_every_kind_has_an_apprise_type() -> None:
    assert set(_APPRISE_TYPES) == {*NotificationKind, TEST_TYPE}
