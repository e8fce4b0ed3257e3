"""From tasks to a pull request over HTTP alone, as with curl."""

from __future__ import annotations

from tests.support.local_forge import REPOSITORY, LocalForge
from tests.support.running_server import RunningServer


def test_three_tasks_become_one_pull_request(forge_server: RunningServer, forge: LocalForge) -> None:
    forge_server.project.task("01-walls", "echo walls > walls.txt")
    forge_server.project.task("02-roof", "echo roof > roof.txt")
    forge_server.project.task("03-door", "while [ ! -e never ]; do sleep 0.05; done")
    forge_server.project.commit_all()

    tasks = [task["id"] for task in forge_server.get("/api/tasks")["tasks"]]
    made = forge_server.post("/api/batches", {"taskIds": tasks, "mode": "parallel"}, 201)
    batch = made["id"]
    assert [task["taskId"] for task in made["tasks"]] == ["01-walls", "02-roof", "03-door"]

    with forge_server.stream_events(batch=batch, logs="false") as events:
        merged = [next(event["taskId"] for event in events if _merged(event)) for _ in range(2)]
    assert sorted(merged) == ["01-walls", "02-roof"]

    forge_server.post(f"/api/batches/{batch}/tasks/03-door/cancel")
    over = forge_server.wait_until_finished(batch)
    assert over["progress"]["cancelled"] == 1
    assert forge_server.get("/api/settings")["maxBatchSize"] == 4

    response = forge_server.client.post(f"/api/batches/{batch}/pr", json={"publish": "pr"})
    assert response.status_code in {200, 202}, response.text
    link = forge_server.wait_until(batch, lambda batch: batch["prUrl"] or batch["unshipped"])
    assert link["unshipped"] is None
    assert link["prUrl"] == f"{forge.url}/{REPOSITORY}/pulls/1"
    assert forge.pulls[0]["head"]["ref"] == over["branch"]
    assert forge_server.get("/api/tasks")["tasks"][0]["batch"]["shipped"] is True


def test_a_batch_without_merged_tasks_can_t_be_published(forge_server: RunningServer) -> None:
    forge_server.project.task("01-walls", "exit 1")
    forge_server.project.commit_all()
    batch = forge_server.run("01-walls", settings={"retries": 0})
    forge_server.wait_until_finished(batch)
    result = forge_server.post(f"/api/batches/{batch}/pr", None, 409)
    assert result["state"] == "failed"
    assert forge_server.post(f"/api/batches/{batch}/pr", {"publish": "off"}, 422)["field"] == "publish"


def test_a_push_without_a_pull_request_has_no_url(forge_server: RunningServer, forge: LocalForge) -> None:
    forge_server.project.task("01-walls", "echo walls > walls.txt")
    forge_server.project.commit_all()
    batch = forge_server.run("01-walls")
    forge_server.wait_until_finished(batch)
    forge_server.client.post(f"/api/batches/{batch}/pr", json={"publish": "push"})
    result = forge_server.wait_until(batch, lambda batch: batch["shipped"] or batch["unshipped"])
    assert (result["unshipped"], result["prUrl"], forge.pulls) == (None, None, [])


def _merged(event: dict[str, object]) -> bool:
    return event["type"] == "batch:task:merged"
