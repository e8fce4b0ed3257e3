"""Requests that are durable but unanswered, because no engine can open the journal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from plait.core.settings import Settings
from plait.engine.daemon import LOG_FILE
from plait.git.location import find_repo
from plait.server import project_session
from plait.store.journal_writer import open_journal_writer
from plait.store.project_files import JOURNAL_FILE
from plait.store.state_claim import claim_state
from tests.support.generated_journal import batch_of, records_of
from tests.support.running_server import RunningServer, running_server as serve
from tests.support.temp_project import TempProject
from tests.support.waiting import wait_until


@pytest.fixture
def engineless_server(project: TempProject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningServer]:
    """With a half-finished batch `b`, and short timeouts."""
    monkeypatch.setattr(project_session, "SUBMIT_TIMEOUT_SECONDS", 1.0)
    monkeypatch.setattr(project_session, "ANSWER_TIMEOUT_SECONDS", 1.0)
    location = find_repo(project.top)
    claim_state(location.state)
    with closing(open_journal_writer(location.state / JOURNAL_FILE)) as writer:
        records = records_of(batch_of(20), Settings())
        writer.append(records[: len(records) // 2])
        with serve(project, tmp_path / "projects.json") as made:
            yield made


def test_a_durable_request_without_an_answer_is_accepted(engineless_server: RunningServer) -> None:
    result = engineless_server.post("/api/batches/b/pause", None, 202)
    assert result["results"] == [
        {**result["results"][0], "result": "accepted", "taskId": None, "status": "running", "tasks": []}
    ]
    many = engineless_server.post("/api/bulk", {"action": "cancel", "taskIds": ["t19"]})
    assert many["results"][0]["result"] == "accepted"


def test_a_batch_exists_as_soon_as_its_request_is_durable(engineless_server: RunningServer) -> None:
    engineless_server.project.task("01-walls", "true")
    body, key = {"taskIds": ["01-walls"]}, {"Idempotency-Key": "k"}
    response = engineless_server.check_status(
        engineless_server.client.post("/api/batches", json=body, headers=key), 202
    )
    assert (response["accepted"], response["status"]) == (True, "pending")
    assert "no engine picked it up" in response["problems"][-1]["message"]
    assert engineless_server.batch(response["id"])["status"] == "pending"
    again = engineless_server.check_status(engineless_server.client.post("/api/batches", json=body, headers=key), 202)
    assert again["id"] == response["id"]
    assert [batch["id"] for batch in engineless_server.get("/api/batches")["batches"]] == [response["id"], "b"]


def test_durable_requests_are_accepted_when_no_engine_can_be_started(fresh_server: RunningServer) -> None:
    fresh_server.project.task("01-walls", "exit 1")
    batch = fresh_server.run("01-walls", settings={"retries": 0})
    fresh_server.wait_until_finished(batch)
    wait_until(lambda: fresh_server.get("/api/batches")["engine"] is None)
    log = find_repo(fresh_server.project.top).state / LOG_FILE
    log.unlink()
    log.mkdir()
    result = fresh_server.post(f"/api/batches/{batch}/retry", None, 202)["results"][0]
    assert result["result"] == "accepted"
    assert "can't start the engine" in result["reason"]
    saved = fresh_server.check_status(fresh_server.client.patch("/api/settings", json={"retries": 1}), 202)
    assert saved["accepted"] is True
    assert "can't start the engine" in saved["notes"][-1]["message"]
    log.rmdir()
    assert fresh_server.wait_for_task(batch, "01-walls", "failed")
    wait_until(lambda: fresh_server.batch(batch)["tasks"][0]["attempt"] == 2)
