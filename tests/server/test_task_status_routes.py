"""The status of some tasks of a batch, for updates after an event."""

from __future__ import annotations

from plait.server.event_buffer import EventCursor
from tests.support.running_server import RunningServer

HOSTILE = "a&b=c +%2F é"


def read_standing(server: RunningServer, batch: str, *tasks: str) -> list[str]:
    response = server.check_status(
        server.client.get(f"/api/batches/{batch}/standing", params={"task": list(tasks)}), 200
    )
    return [run["taskId"] for run in response["tasks"]]


def test_the_standing_of_a_task_equals_its_entry_in_the_task_list(server: RunningServer) -> None:
    server.project.task("01-walls", "true")
    server.project.task("02-roof", "exit 1", retries=0)
    server.project.task("03-tiles", "true", needs="[02-roof]")
    batch = server.run("01-walls", "02-roof", "03-tiles")
    server.wait_until_finished(batch)
    listed = {task["id"]: task["batch"] for task in server.get("/api/tasks")["tasks"]}
    result = server.get(f"/api/batches/{batch}/standing", task="03-tiles")
    assert result["tasks"] == [listed["03-tiles"]]
    assert result["tasks"][0]["status"] == "blocked"
    whole = server.batch(batch)
    assert result["batch"] == {key: value for key, value in whole.items() if key != "tasks"}
    assert server.get(f"/api/batches/{batch}/standing")["tasks"] == list(listed.values())


def test_the_standing_is_limited_to_the_named_tasks(server: RunningServer) -> None:
    for name in ("01-walls", "02-roof", "03-tiles"):
        server.project.task(name, "true")
    batch = server.run("01-walls", "02-roof", "03-tiles")
    assert read_standing(server, batch) == ["01-walls", "02-roof", "03-tiles"]
    assert read_standing(server, batch, "03-tiles", "01-walls", "03-tiles") == ["03-tiles", "01-walls"]
    assert read_standing(server, batch, "02", "nobody", "", HOSTILE, "02-roof") == ["02-roof"]
    assert read_standing(server, batch, "nobody") == []


def test_events_after_a_standing_s_cursor_have_no_gap(server: RunningServer) -> None:
    server.project.task("01-walls", "until [ -e go ]; do sleep 0.02; done")
    batch = server.run("01-walls")
    server.wait_for_task(batch, "01-walls", "running")
    answer = server.client.get(f"/api/batches/{batch}/standing", params={"task": "01-walls"})
    assert answer.json()["tasks"][0]["status"] == "running"
    mark = answer.headers["Plait-Mark"]
    found = EventCursor.parse(mark)
    assert found is not None
    assert found.seq > 0
    server.project.write("go", "")
    with server.stream_events(last=mark, batch=batch, logs=False) as events:
        kinds = {next(events)["type"] for _ in range(2)}
    assert "batch:task:started" not in kinds


def test_an_unknown_batch_or_too_many_tasks_are_refused(server: RunningServer) -> None:
    server.project.task("01-walls", "true")
    batch = server.run("01-walls")
    assert server.get("/api/batches/nobody/standing", 404)["error"]
    many = server.client.get(f"/api/batches/{batch}/standing", params={"task": ["a"] * 201})
    assert server.check_status(many, 422)["field"] == "task"
