"""A whole session, as somebody with curl would have it."""

from __future__ import annotations

from tests.support.local_forge import REPOSITORY, LocalForge
from tests.support.running_server import RunningServer
from tests.support.temp_project import TempProject


def test_three_tasks_to_one_pull_request(
    session: RunningServer, worktree_project: TempProject, remote: LocalForge
) -> None:
    worktree_project.task("01-walls", "echo walls > walls.txt")
    worktree_project.task("02-roof", "echo roof > roof.txt")
    worktree_project.task("03-door", "while [ ! -e never ]; do sleep 0.05; done")
    worktree_project.commit_all()

    tasks = [task["id"] for task in session.get("/api/tasks")["tasks"]]
    made = session.post("/api/batches", {"taskIds": tasks, "mode": "parallel"}, 201)
    batch = made["id"]
    assert [task["taskId"] for task in made["tasks"]] == ["01-walls", "02-roof", "03-door"]

    with session.stream_events(batch=batch, logs="false") as events:
        merged = [next(event["taskId"] for event in events if _merged(event)) for _ in range(2)]
    assert sorted(merged) == ["01-walls", "02-roof"]

    session.post(f"/api/batches/{batch}/tasks/03-door/cancel")
    over = session.wait_until_finished(batch)
    assert over["progress"]["cancelled"] == 1
    assert session.get("/api/settings")["maxBatchSize"] == 4

    told = session.client.post(f"/api/batches/{batch}/pr", json={"publish": "pr"})
    assert told.status_code in {200, 202}, told.text
    link = session.wait_until(batch, lambda batch: batch["prUrl"] or batch["unshipped"])
    assert link["unshipped"] is None
    assert link["prUrl"] == f"{remote.url}/{REPOSITORY}/pulls/1"
    assert remote.pulls[0]["head"]["ref"] == over["branch"]
    assert session.get("/api/tasks")["tasks"][0]["batch"]["shipped"] is True


def test_nothing_merged_is_nothing_to_publish(session: RunningServer, worktree_project: TempProject) -> None:
    worktree_project.task("01-walls", "exit 1")
    worktree_project.commit_all()
    batch = session.run("01-walls", settings={"retries": 0})
    session.wait_until_finished(batch)
    told = session.post(f"/api/batches/{batch}/pr", None, 409)
    assert told["state"] == "failed"
    assert session.post(f"/api/batches/{batch}/pr", {"publish": "off"}, 422)["field"] == "publish"


def test_only_a_push_has_no_link(session: RunningServer, worktree_project: TempProject, remote: LocalForge) -> None:
    worktree_project.task("01-walls", "echo walls > walls.txt")
    worktree_project.commit_all()
    batch = session.run("01-walls")
    session.wait_until_finished(batch)
    session.client.post(f"/api/batches/{batch}/pr", json={"publish": "push"})
    told = session.wait_until(batch, lambda batch: batch["shipped"] or batch["unshipped"])
    assert (told["unshipped"], told["prUrl"], remote.pulls) == (None, None, [])


def _merged(event: dict[str, object]) -> bool:
    return event["type"] == "batch:task:merged"
