"""Where tasks of a batch stand, for those who heard that something happened to them."""

from __future__ import annotations

from plait.server.event_buffer import EventCursor
from tests.support.running_server import RunningServer

HOSTILE = "a&b=c +%2F é"


def asked(served: RunningServer, batch: str, *tasks: str) -> list[str]:
    told = served.check_status(served.client.get(f"/api/batches/{batch}/standing", params={"task": list(tasks)}), 200)
    return [run["taskId"] for run in told["tasks"]]


def test_a_run_is_what_the_list_of_tasks_has_of_it(served: RunningServer) -> None:
    served.project.task("01-walls", "true")
    served.project.task("02-roof", "exit 1", retries=0)
    served.project.task("03-tiles", "true", needs="[02-roof]")
    batch = served.run("01-walls", "02-roof", "03-tiles")
    served.wait_until_finished(batch)
    listed = {task["id"]: task["batch"] for task in served.get("/api/tasks")["tasks"]}
    told = served.get(f"/api/batches/{batch}/standing", task="03-tiles")
    assert told["tasks"] == [listed["03-tiles"]]
    assert told["tasks"][0]["status"] == "blocked"
    whole = served.batch(batch)
    assert told["batch"] == {key: value for key, value in whole.items() if key != "tasks"}
    assert served.get(f"/api/batches/{batch}/standing")["tasks"] == list(listed.values())


def test_only_those_that_are_asked_for_by_their_exact_names(served: RunningServer) -> None:
    for name in ("01-walls", "02-roof", "03-tiles"):
        served.project.task(name, "true")
    batch = served.run("01-walls", "02-roof", "03-tiles")
    assert asked(served, batch) == ["01-walls", "02-roof", "03-tiles"]
    assert asked(served, batch, "03-tiles", "01-walls", "03-tiles") == ["03-tiles", "01-walls"]
    assert asked(served, batch, "02", "nobody", "", HOSTILE, "02-roof") == ["02-roof"]
    assert asked(served, batch, "nobody") == []


def test_whoever_listens_from_its_mark_on_misses_nothing(served: RunningServer) -> None:
    served.project.task("01-walls", "until [ -e go ]; do sleep 0.02; done")
    batch = served.run("01-walls")
    served.wait_for_task(batch, "01-walls", "running")
    answer = served.client.get(f"/api/batches/{batch}/standing", params={"task": "01-walls"})
    assert answer.json()["tasks"][0]["status"] == "running"
    mark = answer.headers["Plait-Mark"]
    found = EventCursor.parse(mark)
    assert found is not None
    assert found.seq > 0
    served.project.write("go", "")
    with served.stream_events(last=mark, batch=batch, logs=False) as events:
        kinds = {next(events)["type"] for _ in range(2)}
    assert "batch:task:started" not in kinds


def test_a_batch_or_a_question_that_can_not_be(served: RunningServer) -> None:
    served.project.task("01-walls", "true")
    batch = served.run("01-walls")
    assert served.get("/api/batches/nobody/standing", 404)["error"]
    many = served.client.get(f"/api/batches/{batch}/standing", params={"task": ["a"] * 201})
    assert served.check_status(many, 422)["field"] == "task"
