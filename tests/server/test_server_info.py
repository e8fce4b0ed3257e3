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


def test_health_needs_nothing_and_tells_nothing(served: RunningServer) -> None:
    assert served.get("/health") == {"status": "ok", "version": __version__}


def test_an_address_that_is_none_and_a_method_that_is_none_are_told_like_all_else(
    served: RunningServer,
) -> None:
    shape = {"error", "hint", "field", "state", "problems"}
    assert {*served.get("/api/nothing", 404)} == shape
    assert {*served.check_status(served.client.delete("/api/batches"), 405)} == shape
    assert {*served.get("/api/batches", 404, project="nobody")} == shape
    assert served.get("/api/batches", 422, project="x" * 300)["field"] == "project"


def test_projects_come_and_go_and_nothing_of_them_is_touched(served: RunningServer, tmp_path: Path) -> None:
    (own,) = served.get("/api/projects")["projects"]
    assert (own["path"], own["default"], own["url"]) == (str(served.project.top), True, None)
    other = tmp_path / "other"
    subprocess.run(["git", "init", "--quiet", str(other)], check=True)
    added = served.post("/api/projects", {"path": str(other)}, 201)
    assert (added["name"], added["default"]) == ("other", False)
    assert served.get("/api/batches", project=added["id"])["batches"] == []
    assert [each["id"] for each in served.get("/api/projects")["projects"]] == [own["id"], added["id"]]
    assert served.client.delete(f"/api/projects/{added['id']}").status_code == 204
    assert other.is_dir()
    assert served.check_status(served.client.delete(f"/api/projects/{added['id']}"), 404)["error"]
    assert served.check_status(served.client.delete(f"/api/projects/{own['id']}"), 409)["state"] == "default"


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
def test_what_is_no_project_is_told(served: RunningServer, body: object, field: str) -> None:
    assert served.post("/api/projects", body, 422)["field"] == field


def test_tasks_are_listed_made_and_edited(served: RunningServer) -> None:
    assert served.get("/api/tasks")["tasks"] == []
    made = served.post("/api/tasks", {"title": "Put up <b>walls</b>", "body": "All four.", "run": "true"}, 201)
    (listed,) = served.get("/api/tasks")["tasks"]
    assert (listed["id"], listed["title"], listed["batch"]) == (made["id"], "Put up <b>walls</b>", None)
    path = f"/api/tasks/{quote_task_id(made['id'])}"
    assert served.get(path)["version"] == made["version"]
    edited = served.patch(path, {"version": made["version"], "title": "Walls"})
    assert (edited["title"], edited["version"] != made["version"]) == ("Walls", True)
    late = served.patch(path, {"version": made["version"], "title": "Doors"}, 409)
    assert late["state"] == "changed"
    batch = served.run(made["id"])
    served.wait_until_finished(batch)
    assert served.get("/api/tasks")["tasks"][0]["batch"]["status"] == "done"


def test_what_is_wrong_with_a_task_is_told_with_its_field(served: RunningServer) -> None:
    served.project.task("01-walls", "true")
    for body, field in (({}, "title"), ({"title": ""}, "title"), ({"title": "a", "needs": [1]}, "needs.0")):
        assert served.post("/api/tasks", body, 422)["field"] == field
    assert served.patch("/api/tasks/01-walls", {"title": "x"}, 422)["field"] == "version"
    assert served.patch("/api/tasks/nobody", {"version": "1", "title": "x"}, 404)["error"]
    for name in ("nobody", "..%2F..%2Fetc%2Fpasswd", "%2Fetc%2Fpasswd", "tasks%2F01-walls.md", "x" * 9000):
        assert served.get(f"/api/tasks/{name}", 404)["error"]


def test_settings_are_shown_saved_and_forgotten(served: RunningServer) -> None:
    before = served.get("/api/settings")
    assert before["given"]["parallelLimit"]["layer"] == "default"
    after = served.patch("/api/settings", {"parallelLimit": 3, "conflictBehavior": "repair"})
    assert (after["parallelLimit"], after["conflictBehavior"]) == (3, "repair")
    assert served.get("/api/settings")["given"]["parallelLimit"]["layer"] == "saved"
    served.patch("/api/settings", {"parallelLimit": None})
    assert served.get("/api/settings")["parallelLimit"] == before["parallelLimit"]
    for body, field in (({"retries": "many"}, "retries"), ({"nothing": 1}, "nothing"), ([], "")):
        told = served.patch("/api/settings", body, 422)
        assert (told["field"] or "").startswith(field)
    described = served.get("/api/settings/schema")
    assert {each["name"] for each in described["settings"]} == {*before} - {"given"}


def test_all_that_is_wrong_with_settings_is_told_each_with_its_field(served: RunningServer) -> None:
    told = served.patch("/api/settings", {"retries": -1, "mode": "sideways", "gate": "true"}, 422)
    assert [problem["field"] for problem in told["problems"]] == ["retries", "mode"]
    assert served.get("/api/settings")["gate"] is None


def test_of_many_who_save_at_once_the_last_is_in_force(served: RunningServer) -> None:
    served.project.task("01-walls", "while [ ! -e go ]; do sleep 0.05; done")
    batch = served.run("01-walls")

    def save(limit: int) -> None:
        served.patch("/api/settings", {"maxBatchSize": limit})

    with ThreadPoolExecutor(6) as several:
        assert [*several.map(save, (1, 4, 2, 4, 3, 4))] == [None] * 6
    saved = served.get("/api/settings")["maxBatchSize"]
    assert served.batch(batch)["settings"]["maxBatchSize"] == saved
    served.project.write("go", "")
    served.wait_until_finished(batch)


def test_agents_are_listed(served: RunningServer) -> None:
    agents = served.get("/api/agents")["agents"]
    assert {"claude", "codex", "shell"} <= {agent["name"] for agent in agents} | {"shell"}
    assert all({"name", "available", "login"} <= agent.keys() for agent in agents)


def test_the_description_is_whole(served: RunningServer) -> None:
    described = served.get("/api/openapi.json")
    operations = [
        (path, method, told) for path, methods in described["paths"].items() for method, told in methods.items()
    ]
    names = [told["operationId"] for _, _, told in operations]
    assert len(set(names)) == len(names) >= 30
    guarded = {"400", "401", "403", "408", "413", "421", "429", "500", "503"}
    for path, _, told in operations:
        assert path == "/health" or guarded <= told["responses"].keys()
        for code, answer in told["responses"].items():
            if int(code) >= 400 and path != "/health":
                assert answer["content"]["application/json"]["schema"]["$ref"].endswith("/Error")
    schemas = described["components"]["schemas"]
    assert "HTTPValidationError" not in schemas
    assert {*schemas["EventShape"]["required"]} == {"seq", "at", "type", "batchId", "taskId", "attempt"}
    assert "default" not in schemas["EventShape"]["properties"]["reason"]
    assert [name for name, shape in schemas.items() if shape.get("additionalProperties") is True] == ["EventShape"]


def test_the_page_about_it_loads_nothing(served: RunningServer) -> None:
    answer = served.client.get("/api/docs")
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert not re.search(r"<script|<link|<img|<style|style=|src=|https?://", answer.text)
    assert 'id="createBatch"' in answer.text


def test_long_answers_are_compressed_for_those_who_read_that(served: RunningServer) -> None:
    plain = served.client.get("/api/openapi.json", headers={"Accept-Encoding": "identity"})
    assert "Content-Encoding" not in plain.headers
    with served.client.stream("GET", "/api/openapi.json", headers={"Accept-Encoding": "gzip"}) as answer:
        raw = b"".join(answer.iter_raw())
    assert json.loads(gzip.decompress(raw)) == plain.json()
    assert len(raw) < len(plain.content) / 5


def test_a_name_that_is_no_text_breaks_nothing(served: RunningServer) -> None:
    served.project.task("01-walls", "true")
    (served.project.top / "tasks").joinpath("01-walls.md").rename(
        Path(str(served.project.top / "tasks") + "/w\udcffalls.md")
    )
    answer: httpx.Response = served.client.get("/api/tasks")
    assert answer.status_code == 200
    assert len(answer.json()["tasks"]) == 1
