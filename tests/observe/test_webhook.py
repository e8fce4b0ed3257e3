"""The webhook: one signed request a message, and a plain answer to what came of it."""

from __future__ import annotations

import json
import os
import re
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from types import ModuleType
from typing import Any

import pytest

from plait.core.notifications import Notification
from plait.core.settings import NotificationKind
from plait.observe.channels import (
    DeliveryError,
    NotificationMessage,
    WebhookChannel,
    build_message,
    build_test_message,
    read_secret,
    sign_body,
)
from tests.support.webhook_receiver import WebhookReceiver

PAGE = Path(__file__).parents[2] / "docs" / "notifications.md"
SECRET = b"hush"
TIDING = Notification(
    NotificationKind.NEEDS_PERSON, "7f3a", "03\udcff", "03 asks you", "red?\nor blue", 1e9, 412, until=1e12
)
MESSAGE = build_message(TIDING, "app", "5d0c")


def hook(url: str, secret: bytes | None = SECRET, **more: Any) -> WebhookChannel:
    return WebhookChannel(url, lambda: secret, **more)


def why(webhook: WebhookChannel, message: NotificationMessage = MESSAGE) -> DeliveryError:
    with pytest.raises(DeliveryError) as caught:
        webhook.send(message)
    return caught.value


@pytest.fixture(scope="module")
def documented() -> ModuleType:
    """The check as the page gives it."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    made = ModuleType("documented")
    exec(code, made.__dict__)
    return made


def test_a_message_arrives_as_documented(receiver: WebhookReceiver) -> None:
    hook(receiver.url).send(MESSAGE)
    (letter,) = receiver.requests
    assert json.loads(letter.body) == {
        "type": "needs_person",
        "title": "03 asks you",
        "text": "red?\nor blue",
        "batchId": "7f3a",
        "taskId": "03\udcff",
        "at": "2001-09-09T01:46:40.000Z",
        "until": "9999-12-31T23:59:59.000Z",
        "seq": 412,
        "project": "app",
    }
    assert letter.path == "/hook"
    assert letter.headers["Content-Type"] == "application/json"
    assert letter.headers["Plait-Delivery"] == "5d0c:412:needs_person"
    (example,) = re.findall(r"^\{.*?\}$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert set(json.loads(example)) == set(json.loads(letter.body))


def test_a_signature_can_be_verified_as_documented(receiver: WebhookReceiver, documented: ModuleType) -> None:
    hook(receiver.url).send(MESSAGE)
    (letter,) = receiver.requests
    said = letter.headers["Plait-Signature"]
    assert documented.genuine(SECRET, said, letter.body)
    assert not documented.genuine(b"other", said, letter.body)
    assert not documented.genuine(SECRET, said, letter.body + b" ")
    assert not documented.genuine(SECRET, said.replace("t=", "t=1"), letter.body)


def test_an_old_message_can_not_be_replayed(documented: ModuleType) -> None:
    body = MESSAGE.body()
    assert documented.genuine(SECRET, sign_body(SECRET, body, int(time.time())), body)
    assert not documented.genuine(SECRET, sign_body(SECRET, body, int(time.time()) - 301), body)


def test_without_a_secret_there_is_no_signature(receiver: WebhookReceiver) -> None:
    hook(receiver.url, None).send(MESSAGE)
    assert "Plait-Signature" not in receiver.requests[0].headers


def test_a_message_that_can_not_be_signed_is_not_sent(receiver: WebhookReceiver) -> None:
    def refuse() -> bytes:
        raise DeliveryError("no secret")

    assert why(WebhookChannel(receiver.url, refuse)).message == "no secret"
    assert receiver.requests == []


def test_each_test_message_is_another_delivery(receiver: WebhookReceiver) -> None:
    for _ in range(2):
        hook(receiver.url).send(build_test_message("app", 0.0))
    first, second = receiver.requests
    assert first.headers["Plait-Delivery"] != second.headers["Plait-Delivery"]
    assert json.loads(first.body)["type"] == "test"


@pytest.mark.parametrize(
    ("status", "again"),
    [
        (400, False),
        (401, False),
        (404, False),
        (410, False),
        (408, True),
        (429, True),
        (500, True),
        (503, True),
    ],
)
def test_the_status_of_an_answer_says_whether_to_retry(receiver: WebhookReceiver, status: int, again: bool) -> None:  # noqa: FBT001
    receiver.status = status
    error = why(hook(receiver.url))
    assert (error.message, error.is_retryable) == (f"it answered {status}", again)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_not_followed(receiver: WebhookReceiver, status: int) -> None:
    receiver.status, receiver.headers = status, {"Location": receiver.url + "/elsewhere"}
    error = why(hook(receiver.url))
    assert not error.is_retryable
    assert "not sent on" in error.message
    assert len(receiver.requests) == 1


def test_an_unreachable_receiver_is_reported_without_its_address(receiver: WebhookReceiver) -> None:
    receiver.down()
    url = receiver.url.replace("://", "://me:hunter2@") + "?key=hunter2"
    error = why(hook(url))
    assert error.is_retryable
    assert "hunter2" not in str(error)
    assert "hunter2" not in hook(url).name
    assert hook(url).name == f"http://127.0.0.1:{receiver.port}/…"


def test_a_timeout_is_retried(receiver: WebhookReceiver) -> None:
    receiver.open.clear()
    error = why(hook(receiver.url, timeout=0.2))
    assert error.is_retryable
    assert "no answer within 0.2 s" in error.message


@pytest.fixture
def torrent() -> Iterator[str]:
    """Whoever asks there gets an answer that never ends."""
    listening = socket.create_server(("127.0.0.1", 0))

    def pour() -> None:
        line, _ = listening.accept()
        with line:
            line.recv(65536)
            line.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            try:
                while True:
                    line.sendall(b"10000\r\n" + b"x" * 65536 + b"\r\n")
            except OSError:
                return

    thread = Thread(target=pour, daemon=True)
    thread.start()
    with listening:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
    thread.join(20)
    assert not thread.is_alive()


def test_the_body_of_an_endless_answer_is_not_read(torrent: str) -> None:
    hook(torrent).send(MESSAGE)


def test_a_receiver_that_speaks_no_http_is_retried() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def hang_up() -> None:
            line, _ = listening.accept()
            line.recv(65536)
            line.sendall(b"what?\r\n\r\n")
            line.close()

        thread = Thread(target=hang_up)
        thread.start()
        assert why(hook(f"http://127.0.0.1:{listening.getsockname()[1]}/")).is_retryable
        thread.join()


def test_no_proxy_is_used_for_a_local_receiver(receiver: WebhookReceiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    hook(receiver.url).send(MESSAGE)
    assert len(receiver.requests) == 1


def test_two_addresses_have_different_keys_that_reveal_nothing() -> None:
    one, two = hook("https://a.example/hunter2"), hook("https://a.example/hunter3")
    assert one.key != two.key
    assert one.name == two.name
    assert re.fullmatch(r"[0-9a-f]{16}", one.key)


def test_a_secret_is_read_from_a_file_that_only_its_owner_can_read(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text("  hush\n")
    file.chmod(0o600)
    assert read_secret(file) == b"hush"
    for mode in (0o640, 0o604, 0o660):
        file.chmod(mode)
        with pytest.raises(DeliveryError, match="others can read the secret"):
            read_secret(file)


def test_a_file_without_a_secret_is_reported(tmp_path: Path) -> None:
    (tmp_path / "empty").touch(mode=0o600)
    (tmp_path / "large").write_text("x" * 5000)
    (tmp_path / "large").chmod(0o600)
    os.mkfifo(tmp_path / "pipe", 0o600)
    for name, said in {
        "none": "can't be read: No such file",
        "empty": "doesn't hold a secret",
        "large": "doesn't hold a secret",
        "pipe": "not a regular file",
        ".": "not a regular file",
    }.items():
        with pytest.raises(DeliveryError, match=said) as caught:
            read_secret(tmp_path / name)
        assert not caught.value.is_retryable


def test_importing_the_channels_does_not_import_httpx() -> None:
    assert "httpx" not in vars(sys.modules["plait.observe.channels"])
