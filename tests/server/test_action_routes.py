"""Control over HTTP: actions and their results."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from plait.store.project_files import load_batch_inputs
from tests.support.running_server import RunningServer, quote_task_id
from tests.support.temp_project import use_environment

WAIT = "while [ ! -e go ]; do sleep 0.05; done"


def queue(server: RunningServer) -> str:
    for name in ("01-walls", "02-roof", "03-door"):
        server.project.task(name, "true")
    return server.run("01-walls", "02-roof", "03-door", mode="queue")


def failing(server: RunningServer) -> str:
    """A batch in which one has failed and another one is blocked by it."""
    server.project.task("01-walls", "test -e fixed")
    server.project.task("02-roof", "true", needs="[01-walls]")
    batch = server.run("01-walls", "02-roof", settings={"retries": 0})
    server.wait_until_finished(batch)
    assert server.statuses(batch) == {"01-walls": "failed", "02-roof": "blocked"}
    return batch


def test_a_queue_continues_by_approval(server: RunningServer) -> None:
    batch = queue(server)
    server.wait_until(batch, lambda result: "approval" in result["tasks"][0]["reason"])
    result = server.post(f"/api/batches/{batch}/approve")
    assert result["batchId"] == batch
    assert (result["results"][0]["result"], result["results"][0]["tasks"]) == ("granted", ["01-walls"])
    server.wait_for_task(batch, "01-walls", "done")
    assert server.post(f"/api/batches/{batch}/tasks/03-door/approve")["results"][0]["taskId"] == "03-door"
    again = server.post(f"/api/batches/{batch}/tasks/03-door/approve", None, 409)
    assert again["error"] == "03-door does not need approval"
    assert again["state"] in {"waiting", "queued", "running", "done"}
    server.post(f"/api/batches/{batch}/approve", {"all": True})
    assert server.wait_until_finished(batch)["status"] == "completed"


def test_one_task_is_cancelled_and_the_others_continue(server: RunningServer) -> None:
    for name in ("01-walls", "02-roof"):
        server.project.task(name, WAIT)
    batch = server.run("01-walls", "02-roof")
    server.wait_for_task(batch, "01-walls", "running")
    result = server.post(f"/api/batches/{batch}/tasks/01-walls/cancel")
    assert result["results"][0]["result"] == "granted"
    server.wait_for_task(batch, "01-walls", "cancelled")
    server.project.write("go", "")
    server.wait_until_finished(batch)
    assert server.statuses(batch) == {"01-walls": "cancelled", "02-roof": "done"}


def test_a_batch_is_paused_unpaused_and_cancelled(server: RunningServer) -> None:
    server.project.task("01-walls", WAIT)
    batch = server.run("01-walls")
    assert server.post(f"/api/batches/{batch}/pause")["results"][0]["status"] == "paused"
    assert server.post(f"/api/batches/{batch}/pause", None, 409)["state"] == "paused"
    assert server.post(f"/api/batches/{batch}/unpause")["results"][0]["status"] == "running"
    assert server.post(f"/api/batches/{batch}/resume", None, 409)["error"] == f"batch {batch} is not paused"
    server.post(f"/api/batches/{batch}/cancel")
    assert server.wait_until_finished(batch)["status"] == "cancelled"
    assert server.post(f"/api/batches/{batch}/cancel", None, 409)["state"] == "cancelled"


def test_a_retry_runs_failed_and_blocked_tasks_again(server: RunningServer) -> None:
    batch = failing(server)
    blocked = server.post(f"/api/batches/{batch}/tasks/02-roof/retry", None, 409)
    assert (blocked["state"], blocked["error"]) == ("blocked", "02-roof is blocked: retry 01-walls instead")
    server.project.write("fixed", "")
    result = server.post(f"/api/batches/{batch}/retry")
    assert result["results"][0]["tasks"] == ["01-walls", "02-roof"]
    assert server.wait_until_finished(batch)["status"] == "completed"
    assert server.post(f"/api/batches/{batch}/retry", None, 409)["state"] == "completed"


def test_finished_work_is_verified_again_without_an_agent(server: RunningServer) -> None:
    server.project.task("01-walls", "echo walls >> walls.txt")
    batch = server.run("01-walls", settings={"retries": 0, "verify": "test -e fixed"})
    assert server.wait_until_finished(batch)["status"] == "failed"
    server.project.write("fixed", "")
    assert server.post(f"/api/batches/{batch}/recheck")["results"][0]["tasks"] == ["01-walls"]
    assert server.wait_until_finished(batch)["status"] == "completed"
    assert server.project.read("walls.txt") == "walls\n"
    assert server.post(f"/api/batches/{batch}/recheck", None, 409)["error"].endswith("finished work that isn't merged")
    refused = server.post(f"/api/batches/{batch}/tasks/01-walls/recheck", None, 409)
    assert (refused["state"], refused["error"]) == ("done", "01-walls is done")


def test_a_task_is_retried_by_another_agent(server: RunningServer) -> None:
    batch = failing(server)
    unknown = server.post(f"/api/batches/{batch}/tasks/01-walls/retry", {"agent": "nobody"}, 422)
    assert (unknown["field"], "nobody" in unknown["error"]) == ("agent", True)
    server.project.write("fixed", "")
    server.post(f"/api/batches/{batch}/tasks/01-walls/retry", {"agent": "shell"})
    assert server.wait_until_finished(batch)["status"] == "completed"


def test_a_retry_takes_the_options_of_the_command_line(server: RunningServer) -> None:
    batch = failing(server)
    path = f"/api/batches/{batch}/tasks/01-walls/retry"
    for body, field in (({"timeout": "soon"}, "timeout"), ({"verify": 3}, "verify"), ({"retries": 3}, "retries")):
        assert server.post(path, body, 422)["field"] == field
    options = {"verify": "test -e fixed", "timeout": "9m", "model": "small"}
    server.project.write("fixed", "")
    server.post(path, options)
    assert server.wait_until_finished(batch)["status"] == "completed"
    assert server.batch(batch)["settings"]["verify"] == "test -e fixed"
    assert server.batch(batch)["settings"]["timeout"] == 540
    assert load_batch_inputs(server.project.place, batch).tasks_by_id["01-walls"].model == "small"


def test_a_refused_retry_changes_no_settings(server: RunningServer) -> None:
    batch = failing(server)
    server.post(f"/api/batches/{batch}/tasks/02-roof/retry", {"verify": "true"}, 409)
    assert server.batch(batch)["settings"]["verify"] is None


def test_a_missing_program_is_reported_before_a_retry(server: RunningServer) -> None:
    batch = failing(server)
    with use_environment({**server.project.env, "PLAIT_PREFLIGHT": "true"}):
        missing = server.post(f"/api/batches/{batch}/retry", {"verify": "no-such-program-of-plait"}, 409)
    assert "no-such-program-of-plait is not installed" in missing["error"]
    assert "`preflight: false`" in missing["hint"]
    assert server.statuses(batch)["01-walls"] == "failed"


def test_a_task_is_dropped(server: RunningServer) -> None:
    batch = failing(server)
    assert server.post(f"/api/batches/{batch}/tasks/01-walls/drop")["results"][0]["result"] == "granted"
    assert server.statuses(batch)["01-walls"] == "skipped"
    assert server.post(f"/api/batches/{batch}/tasks/01-walls/drop", None, 409)["state"] == "skipped"


def test_feedback_reaches_a_new_attempt(server: RunningServer) -> None:
    server.project.task("01-walls", 'test -s "$PLAIT_FEEDBACK_FILE" && grep -q doors "$PLAIT_FEEDBACK_FILE"')
    batch = server.run("01-walls", settings={"retries": 0})
    server.wait_until_finished(batch)
    for body, field in (({}, "text"), ({"text": ""}, "text"), ({"text": 3}, "text"), ({"txt": "x"}, "text")):
        assert server.post(f"/api/batches/{batch}/tasks/01-walls/feedback", body, 422)["field"] == field
    server.post(f"/api/batches/{batch}/tasks/01-walls/feedback", {"text": "mind the doors"})
    assert server.wait_until_finished(batch)["status"] == "completed"


def test_a_repeated_action_with_a_key_is_performed_once(server: RunningServer) -> None:
    batch = queue(server)
    server.wait_until(batch, lambda result: "approval" in result["tasks"][0]["reason"])
    path, key = f"/api/batches/{batch}/approve", {"Idempotency-Key": "once"}
    first = server.check_status(server.client.post(path, headers=key), 200)
    server.wait_for_task(batch, "01-walls", "done")
    again = server.check_status(server.client.post(path, headers=key), 200)
    assert first["results"][0]["tasks"] == again["results"][0]["tasks"] == ["01-walls"]
    assert server.statuses(batch)["02-roof"] != "done"
    assert server.check_status(server.client.post(path, headers={"Idempotency-Key": "other"}), 200)["results"][0][
        "tasks"
    ] == ["02-roof"]


def test_an_idempotency_key_reused_for_a_different_request_gets_422(server: RunningServer) -> None:
    batch, key = failing(server), {"Idempotency-Key": "one request"}
    path = f"/api/batches/{batch}/tasks/01-walls"
    server.check_status(server.client.post(f"{path}/feedback", json={"text": "mind the wind"}, headers=key), 200)
    server.wait_until_finished(batch)
    others: list[tuple[str, object]] = [
        (f"{path}/feedback", {"text": "mind the rain"}),
        (f"{path}/retry", None),
        (f"/api/batches/{batch}/tasks/02-roof/feedback", {"text": "mind the wind"}),
        (f"/api/batches/{batch}/retry", None),
        ("/api/batches", {"taskIds": ["01-walls"], "again": True}),
    ]
    for other, body in others:
        refused = server.check_status(server.client.post(other, json=body, headers=key), 422)
        assert refused["error"] == "this Idempotency-Key was used for a different request"
        assert refused["field"] == "Idempotency-Key"
    server.check_status(server.client.post(f"{path}/feedback", json={"text": "mind the wind"}, headers=key), 200)
    assert server.batch(batch)["tasks"][0]["attempt"] == 2, "nothing else was done"


def test_concurrent_requests_with_one_key_get_the_same_answer(server: RunningServer) -> None:
    batch = failing(server)
    path = f"/api/batches/{batch}/tasks/01-walls/retry"

    def ask(_: int) -> object:
        return server.check_status(server.client.post(path, headers={"Idempotency-Key": "six"}), 200)["results"][0][
            "tasks"
        ]

    with ThreadPoolExecutor(6) as several:
        assert [*several.map(ask, range(6))] == [["01-walls", "02-roof"]] * 6
    server.wait_until_finished(batch)
    assert server.batch(batch)["tasks"][0]["attempt"] == 2


def test_a_repeated_retry_with_a_key_is_answered_but_not_performed_again(server: RunningServer) -> None:
    batch = failing(server)
    path, key = f"/api/batches/{batch}/retry", {"Idempotency-Key": "k"}
    first = server.check_status(server.client.post(path, headers=key), 200)
    server.wait_until_finished(batch)
    again = server.check_status(server.client.post(path, headers=key), 200)
    assert [each["tasks"] for each in again["results"]] == [each["tasks"] for each in first["results"]]
    server.project.write("fixed", "")
    server.post(path)
    assert server.wait_until_finished(batch)["tasks"][0]["attempt"] == 3
    assert server.check_status(server.client.post(path, headers=key), 200)["results"][0]["result"] == "granted"


@pytest.mark.parametrize("task", ["nobody", "..", "a/b", "TODO:63", "x" * 9_000, "%2e%2e", "\u202e", "<b>"])
def test_actions_on_an_unknown_task_are_not_found(server: RunningServer, task: str) -> None:
    server.project.task("01-walls", "true")
    batch = server.run("01-walls")
    for verb in ("cancel", "retry", "drop", "approve"):
        assert server.post(f"/api/batches/{batch}/tasks/{quote_task_id(task)}/{verb}", None, 404)["error"]
    assert server.post("/api/batches/nobody/cancel", None, 404)["error"] == "there is no batch nobody"


def test_a_bulk_action_returns_a_result_for_each_task(server: RunningServer) -> None:
    batch = failing(server)
    server.project.task("03-door", "true")
    other = server.run("03-door")
    server.wait_until_finished(other)
    server.project.write("fixed", "")
    result = server.post("/api/bulk", {"action": "retry", "taskIds": ["03-door", "nobody", "02-roof", "01-walls"]})
    assert [(each["taskId"], each["batchId"], each["result"]) for each in result["results"]] == [
        ("03-door", other, "granted"),
        ("nobody", None, "unknown"),
        ("02-roof", batch, "refused"),
        ("01-walls", batch, "granted"),
    ]
    assert result["results"][2]["reason"] == "02-roof has not ended"  # 01-walls came first, and took it up
    assert server.wait_until_finished(batch)["status"] == "completed"
    of_one = server.post("/api/bulk", {"action": "drop", "taskIds": ["03-door"], "batchId": batch})
    assert of_one["results"][0]["result"] == "unknown"
    assert server.post("/api/bulk", {"action": "drop", "taskIds": ["x"], "batchId": "none"}, 404)["error"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"action": "explode", "taskIds": ["a"]}, "action"),
        ({"action": "retry", "taskIds": []}, "taskIds"),
        ({"action": "retry", "taskIds": ["a"] * 1001}, "taskIds"),
        ({"action": "retry"}, "taskIds"),
        ({"action": "feedback", "taskIds": ["a"]}, "text"),
        ({"action": "retry", "taskIds": ["a"], "text": "x"}, "text"),
        ({"action": "drop", "taskIds": ["a"], "verify": "x"}, "verify"),
        ({"action": "recheck", "taskIds": ["a"], "model": "x"}, "model"),
        ({"action": "recheck", "taskIds": ["a"], "timeout": "1m"}, "timeout"),
        ({"action": "cancel", "taskIds": ["a"], "agent": "x"}, "agent"),
    ],
)
def test_an_invalid_bulk_body_is_refused_with_its_field(server: RunningServer, body: object, field: str) -> None:
    assert server.post("/api/bulk", body, 422)["field"] == field
