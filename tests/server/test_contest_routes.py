"""A contest over HTTP: two agents try, and the smallest change is merged."""

from __future__ import annotations

from pathlib import Path

from tests.support.contest_project import AMBER, BIRCH, contest_project as make
from tests.support.running_server import running_server as serve


def test_a_contest_between_two_agents_has_one_winner(tmp_path: Path) -> None:
    with make(tmp_path) as contest_project, serve(contest_project.project, tmp_path / "projects.json") as server:
        contest_project.write_agent("birch", "echo spent 250000 1200\nprintf 'birch\\nbirch\\n' >a.txt")
        contest_project.write_agent("amber", "echo spent 750000 800\necho amber >a.txt")
        contest_project.project.commit_all()
        body = {"taskIds": ["a"], "contest": {"agents": [AMBER, BIRCH]}}
        plan = server.post("/api/plan", body)
        assert plan["waves"] == [["a@Amber", "a@Birch"], ["a"]]
        assert plan["cost"] is None
        batch = server.post("/api/batches", body, 201)["id"]
        a = next(task for task in server.wait_until_finished(batch)["tasks"] if task["taskId"] == "a")
        assert (a["status"], a["winner"]) == ("done", "a@Amber")
        standing = f"/api/batches/{batch}/standing"
        assert [run["taskId"] for run in server.get(standing)["tasks"]] == ["a"]
        assert [run["taskId"] for run in server.get(standing, task="a@Birch")["tasks"]] == ["a@Birch"]
        contest = server.get(f"/api/batches/{batch}/tasks/a/explain")["contest"]
        assert {each["entrant"]: each["verdict"] for each in contest["entrants"]} == {
            "a@Amber": "won",
            "a@Birch": "passed",
        }
        (board,) = server.get("/api/tasks")["tasks"]
        assert (board["batch"]["review"], board["batch"]["diffstat"]["added"]) == (True, 1)
        assert server.post("/api/plan", body)["cost"] == {"usd": 1.0, "tokens": 2000}
