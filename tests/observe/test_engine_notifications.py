"""Real engines and a real receiver: whoever asked to be told is told, whatever becomes of either."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from plait.core.decisions import BatchEnded
from tests.support.temp_project import TempProject, temp_project
from tests.support.waiting import wait_until
from tests.support.webhook_receiver import WebhookReceiver

SECRET = "hunter2-hunter2"


@pytest.fixture
def project(tmp_path: Path, receiver: WebhookReceiver) -> Iterator[TempProject]:
    with temp_project(tmp_path / "project") as made:
        made.env["PLAIT_NOTIFY_WEBHOOK"] = f"{receiver.url}/{SECRET}"
        made.env["PLAIT_NOTIFY_SECRET"] = SECRET
        made.env["PLAIT_RETRIES"] = "0"
        yield made


def titles(receiver: WebhookReceiver, count: int) -> list[str]:
    return [
        json.loads(letter.body)["title"].replace(_batch(letter.body), "B") for letter in receiver.wait_for_count(count)
    ]


def _batch(body: bytes) -> str:
    return json.loads(body)["batchId"] or "…"


def wait_until_ended(project: TempProject, count: int) -> None:
    wait_until(lambda: sum(isinstance(record.event, BatchEnded) for record in project.read_records()) >= count)


def test_the_end_of_a_batch_is_notified_without_a_front_end(project: TempProject, receiver: WebhookReceiver) -> None:
    project.task("01-walls", "exit 1")
    answer = project.plait("run", "tasks", "--detach")
    assert answer.code == 0, answer.output
    assert titles(receiver, 1) == ["batch B has ended, 1 of 1 tasks not done"]
    project.wait_for_exit()
    (letter,) = receiver.requests
    sent = json.loads(letter.body)
    assert (sent["type"], sent["project"]) == ("failed", project.top.name)
    assert letter.headers["Plait-Signature"].startswith("t=")


def test_a_needed_approval_is_notified(project: TempProject, receiver: WebhookReceiver) -> None:
    project.task("01-walls", "true")
    project.plait("run", "tasks", "--detach", "--mode", "queue")
    assert titles(receiver, 1) == ["01-walls needs approval"]
    project.wait_for_exit()
    answer = project.plait("approve")
    assert answer.code == 0, answer.output
    assert titles(receiver, 2)[1:] == ["batch B is done"]
    project.wait_for_exit()
    assert len(receiver.requests) == 2


def test_a_slow_receiver_delays_neither_tasks_nor_plait_run(project: TempProject, receiver: WebhookReceiver) -> None:
    receiver.open.clear()
    project.task("01-walls", "exit 1")
    project.env["PLAIT_NOTIFY_ON"] = "task_failed,failed"
    answer = project.plait("run", "tasks", "--yes")
    assert answer.code == 1, answer.output
    project.task("02-paint", "touch painted")
    answer = project.plait("run", "tasks", "--select", "02", "--yes")
    assert answer.code == 0, answer.output
    assert (project.top / "painted").exists()
    receiver.open.set()
    project.wait_for_exit(60)


def test_a_receiver_that_was_down_is_notified_when_it_is_back(project: TempProject, receiver: WebhookReceiver) -> None:
    receiver.down()
    project.task("01-walls", "true")
    answer = project.plait("run", "tasks", "--yes")
    assert answer.code == 0, answer.output
    receiver.up()
    assert titles(receiver, 1) == ["batch B is done"]
    project.wait_for_exit()
    assert len(receiver.requests) == 1


def test_notifications_of_a_killed_engine_are_sent_once_by_the_next(
    project: TempProject, receiver: WebhookReceiver
) -> None:
    receiver.down()
    project.task("01-walls", "true")
    project.plait("run", "tasks", "--detach")
    wait_until_ended(project, 1)
    engine = project.find_engine()
    assert engine is not None
    os.kill(engine, signal.SIGKILL)
    project.wait_for_exit()
    receiver.up()
    project.task("02-paint", "exit 1")
    project.plait("run", "tasks", "--select", "02", "--yes")
    assert sorted(titles(receiver, 2)) == ["batch B has ended, 1 of 1 tasks not done", "batch B is done"]
    project.wait_for_exit()
    project.task("03-roof", "true")
    project.plait("run", "tasks", "--select", "03", "--yes")
    assert titles(receiver, 3)[2:] == ["batch B is done"]
    project.wait_for_exit()
    assert len(receiver.requests) == 3
    assert len({letter.headers["Plait-Delivery"] for letter in receiver.requests}) == 3


def test_the_log_names_a_failed_channel_without_secrets(project: TempProject, receiver: WebhookReceiver) -> None:
    receiver.status = 404
    project.env["PLAIT_NOTIFY_URLS"] = f"nosuchservice://{SECRET}"
    project.task("01-walls", "true")
    project.plait("run", "tasks", "--yes")
    receiver.wait_for_count(1)
    project.wait_for_exit()
    assert f"could not notify http://127.0.0.1:{receiver.port}/…: it answered 404" in project.read_engine_log()
    assert "could not notify nosuchservice://…: apprise doesn't know this kind of address" in project.read_engine_log()
    for path in project.place.state.rglob("*"):
        if path.is_file() and "environment" not in path.name:
            assert SECRET.encode() not in path.read_bytes(), path


def test_without_receivers_nothing_is_sent(project: TempProject) -> None:
    for name in ("PLAIT_NOTIFY_WEBHOOK", "PLAIT_NOTIFY_SECRET"):
        del project.env[name]
    project.task("01-walls", "true")
    project.plait("run", "tasks", "--yes")
    project.wait_for_exit()
    assert not (project.place.state / "told.json").exists()


def test_a_test_message_reports_each_delivery(project: TempProject, receiver: WebhookReceiver) -> None:
    project.env["PLAIT_NOTIFY_URLS"] = f"json://127.0.0.1:{receiver.port}/{SECRET}"
    answer = project.plait("notify", "--test")
    assert answer.code == 0, answer.output
    assert answer.output.splitlines() == [f"sent      http://127.0.0.1:{receiver.port}/…", "sent      json://…"]
    assert len(receiver.requests) == 2
    receiver.status = 403
    answer = project.plait("notify", "--test", "--json")
    assert answer.code == 1
    told = json.loads(answer.output)
    assert [(each["address"], each["told"], each["error"]) for each in told["addressees"]] == [
        (f"http://127.0.0.1:{receiver.port}/…", False, "it answered 403"),
        ("json://…", False, "the service refused it"),
    ]
    assert told["on"] == ["finished", "failed", "needs_person", "limit", "unpublished"]
    assert SECRET not in answer.output


def test_without_test_nothing_is_sent(project: TempProject, receiver: WebhookReceiver) -> None:
    answer = project.plait("notify")
    assert answer.code == 0
    assert f"http://127.0.0.1:{receiver.port}/…" in answer.output
    assert "notifies on finished, failed" in answer.output
    answer = project.plait("notify", "--json")
    assert json.loads(answer.output)["addressees"][0]["told"] is None
    assert receiver.requests == []


def test_a_test_message_without_receivers_says_how_to_set_one(project: TempProject) -> None:
    del project.env["PLAIT_NOTIFY_WEBHOOK"]
    answer = project.plait("notify", "--test")
    assert answer.code == 2
    assert "neither notify.urls nor notify.webhook is set" in answer.output
    assert "config.toml" in answer.output


def test_a_secret_that_others_can_read_is_not_used(
    project: TempProject, receiver: WebhookReceiver, tmp_path: Path
) -> None:
    del project.env["PLAIT_NOTIFY_SECRET"]
    file = tmp_path / "secret"
    file.write_text(SECRET)
    file.chmod(0o644)
    project.env["PLAIT_NOTIFY_SECRET_FILE"] = str(file)
    answer = project.plait("notify", "--test")
    assert answer.code == 1
    assert "others can read the secret" in answer.output
    assert receiver.requests == []
    file.chmod(0o600)
    assert project.plait("notify", "--test").code == 0
    assert "Plait-Signature" in receiver.requests[0].headers
