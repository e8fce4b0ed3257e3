"""The server itself, its projects, tasks, settings and agents; and what it says of itself."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from plait import __version__
from tests.support.running_server import RunningServer, quote_task_id


def test_health_returns_only_the_version(server: RunningServer) -> None:
    assert server.get("/health") == {"status": "ok", "version": __version__}


def test_all_errors_have_the_same_fields(
    server: RunningServer,
) -> None:
    shape = {"error", "hint", "field", "state", "problems"}
    assert {*server.get("/api/nothing", 404)} == shape
    assert {*server.check_status(server.client.delete("/api/batches"), 405)} == shape
    assert {*server.get("/api/batches", 404, project="nobody")} == shape
    assert server.get("/api/batches", 422, project="x" * 300)["field"] == "project"


def test_projects_are_added_and_removed_without_touching_their_files(server: RunningServer, tmp_path: Path) -> None:
    (own,) = server.get("/api/projects")["projects"]
    assert (own["path"], own["default"], own["url"]) == (str(server.project.top), True, None)
    other = tmp_path / "other"
    subprocess.run(["git", "init", "--quiet", str(other)], check=True)
    added = server.post("/api/projects", {"path": str(other)}, 201)
    assert (added["name"], added["default"]) == ("other", False)
    assert server.get("/api/batches", project=added["id"])["batches"] == []
    assert [each["id"] for each in server.get("/api/projects")["projects"]] == [own["id"], added["id"]]
    assert server.client.delete(f"/api/projects/{added['id']}").status_code == 204
    assert other.is_dir()
    assert server.check_status(server.client.delete(f"/api/projects/{added['id']}"), 404)["error"]
    assert server.check_status(server.client.delete(f"/api/projects/{own['id']}"), 409)["state"] == "default"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "path"),
        ({"path": "/etc", "url": "https://example.org/a/b"}, "path"),
        ({"path": "relative"}, "path"),
        ({"path": "/nowhere/at/all"}, "path"),
        ({"url": "nonsense"}, "url"),
        ({"path": ""}, "path"),
        ({"path": 3}, "path"),
    ],
)
def test_an_invalid_project_is_refused_with_its_field(server: RunningServer, body: object, field: str) -> None:
    assert server.post("/api/projects", body, 422)["field"] == field


def test_tasks_are_listed_created_and_edited(server: RunningServer) -> None:
    assert server.get("/api/tasks")["tasks"] == []
    made = server.post("/api/tasks", {"title": "Put up <b>walls</b>", "body": "All four.", "run": "true"}, 201)
    (listed,) = server.get("/api/tasks")["tasks"]
    assert (listed["id"], listed["title"], listed["batch"]) == (made["id"], "Put up <b>walls</b>", None)
    path = f"/api/tasks/{quote_task_id(made['id'])}"
    assert server.get(path)["version"] == made["version"]
    edited = server.patch(path, {"version": made["version"], "title": "Walls"})
    assert (edited["title"], edited["version"] != made["version"]) == ("Walls", True)
    late = server.patch(path, {"version": made["version"], "title": "Doors"}, 409)
    assert late["state"] == "changed"
    batch = server.run(made["id"])
    server.wait_until_finished(batch)
    assert server.get("/api/tasks")["tasks"][0]["batch"]["status"] == "done"


def test_an_invalid_task_is_refused_with_its_field(server: RunningServer) -> None:
    server.project.task("01-walls", "true")
    for body, field in (({}, "title"), ({"title": ""}, "title"), ({"title": "a", "needs": [1]}, "needs.0")):
        assert server.post("/api/tasks", body, 422)["field"] == field
    assert server.patch("/api/tasks/01-walls", {"title": "x"}, 422)["field"] == "version"
    assert server.patch("/api/tasks/nobody", {"version": "1", "title": "x"}, 404)["error"]
    for name in ("nobody", "..%2F..%2Fetc%2Fpasswd", "%2Fetc%2Fpasswd", "tasks%2F01-walls.md", "x" * 9000):
        assert server.get(f"/api/tasks/{name}", 404)["error"]


def test_settings_are_read_saved_and_removed(fresh_server: RunningServer) -> None:
    before = fresh_server.get("/api/settings")
    assert before["given"]["parallelLimit"]["layer"] == "default"
    after = fresh_server.patch("/api/settings", {"parallelLimit": 3, "conflictBehavior": "repair"})
    assert (after["parallelLimit"], after["conflictBehavior"]) == (3, "repair")
    assert fresh_server.get("/api/settings")["given"]["parallelLimit"]["layer"] == "saved"
    fresh_server.patch("/api/settings", {"parallelLimit": None})
    assert fresh_server.get("/api/settings")["parallelLimit"] == before["parallelLimit"]
    for body, field in (({"retries": "many"}, "retries"), ({"nothing": 1}, "nothing"), ([], "")):
        result = fresh_server.patch("/api/settings", body, 422)
        assert (result["field"] or "").startswith(field)
    described = fresh_server.get("/api/settings/schema")
    assert {each["name"] for each in described["settings"]} == {*before} - {"given"}


def test_every_invalid_setting_is_reported_with_its_field(server: RunningServer) -> None:
    result = server.patch("/api/settings", {"retries": -1, "mode": "sideways", "gate": "true"}, 422)
    assert [problem["field"] for problem in result["problems"]] == ["retries", "mode"]
    assert server.get("/api/settings")["gate"] is None


def test_concurrent_settings_changes_leave_the_saved_one_in_force(fresh_server: RunningServer) -> None:
    fresh_server.project.task("01-walls", "while [ ! -e go ]; do sleep 0.05; done")
    batch = fresh_server.run("01-walls")

    def save(limit: int) -> None:
        fresh_server.patch("/api/settings", {"maxBatchSize": limit})

    with ThreadPoolExecutor(6) as several:
        assert [*several.map(save, (1, 4, 2, 4, 3, 4))] == [None] * 6
    saved = fresh_server.get("/api/settings")["maxBatchSize"]
    assert fresh_server.batch(batch)["settings"]["maxBatchSize"] == saved
    fresh_server.project.write("go", "")
    fresh_server.wait_until_finished(batch)


def test_agents_are_listed(server: RunningServer) -> None:
    agents = server.get("/api/agents")["agents"]
    assert {"claude", "codex", "shell"} <= {agent["name"] for agent in agents} | {"shell"}
    assert all({"name", "available", "login"} <= agent.keys() for agent in agents)


def test_the_openapi_document_is_complete(server: RunningServer) -> None:
    described = server.get("/api/openapi.json")
    operations = [
        (path, method, result) for path, methods in described["paths"].items() for method, result in methods.items()
    ]
    names = [result["operationId"] for _, _, result in operations]
    assert len(set(names)) == len(names) >= 30
    guarded = {"400", "401", "403", "408", "413", "421", "429", "500", "503"}
    for path, _, result in operations:
        assert path == "/health" or guarded <= result["responses"].keys()
        for code, answer in result["responses"].items():
            if int(code) >= 400 and path != "/health":
                assert answer["content"]["application/json"]["schema"]["$ref"].endswith("/Error")
    schemas = described["components"]["schemas"]
    assert "HTTPValidationError" not in schemas
    assert {*schemas["Event"]["required"]} == {"seq", "at", "type", "batchId", "taskId", "attempt"}
    assert "default" not in schemas["Event"]["properties"]["reason"]
    assert [name for name, shape in schemas.items() if shape.get("additionalProperties") is True] == ["Event"]


def test_the_docs_page_loads_no_external_files(server: RunningServer) -> None:
    answer = server.client.get("/api/docs")
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert not re.search(r"<script|<link|<img|<style|style=|src=|https?://", answer.text)
    assert 'id="createBatch"' in answer.text


def test_long_responses_are_compressed_if_accepted(server: RunningServer) -> None:
    plain = server.client.get("/api/openapi.json", headers={"Accept-Encoding": "identity"})
    assert "Content-Encoding" not in plain.headers
    with server.client.stream("GET", "/api/openapi.json", headers={"Accept-Encoding": "gzip"}) as answer:
        raw = b"".join(answer.iter_raw())
    assert json.loads(gzip.decompress(raw)) == plain.json()
    assert len(raw) < len(plain.content) / 5


def test_a_task_file_with_an_undecodable_name_is_listed(server: RunningServer) -> None:
    server.project.task("01-walls", "true")
    (server.project.top / "tasks").joinpath("01-walls.md").rename(
        Path(str(server.project.top / "tasks") + "/w\udcffalls.md")
    )
    answer: httpx.Response = server.client.get("/api/tasks")
    assert answer.status_code == 200
    assert len(answer.json()["tasks"]) == 1
