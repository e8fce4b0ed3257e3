"""Batches over HTTP: made, listed, looked at; and what can't be."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from plait.client.api_errors import NotFoundError, StateError
from plait.git.location import RepoLocation
from plait.server.event_buffer import EventCursor
from plait.server.service.lookup import resolve_batch, resolve_task
from tests.support.journal_writer import JournalWriter
from tests.support.running_server import RunningServer

NAMES = ["01-walls", "02-roof", "03-door"]


@pytest.fixture
def place(tmp_path: Path) -> RepoLocation:
    return RepoLocation(tmp_path, tmp_path / ".plait", repository=False)


def three(server: RunningServer, run: str = "echo hello") -> None:
    for name in NAMES:
        server.project.task(name, run)


def refuse(server: RunningServer, status: int, body: object, path: str = "/api/batches") -> dict[str, object]:
    """The error. Nothing was started."""
    before = server.batch_ids()
    told: dict[str, object] = server.post(path, body, status)
    assert {*told} == {"error", "hint", "field", "state", "problems"}
    assert server.batch_ids() == before
    return told


def test_tasks_are_run_by_their_exact_ids(server: RunningServer) -> None:
    three(server)
    made = server.post("/api/batches", {"taskIds": ["03-door", "01-walls"], "mode": "parallel"}, 201)
    assert {*made} == {"id", "status", "mode", "branch", "tasks", "createdAt", "problems", "accepted"}
    assert [task["taskId"] for task in made["tasks"]] == ["01-walls", "03-door"]
    assert made["mode"] == "parallel"
    done = server.wait_until_finished(made["id"])
    assert (done["status"], done["progress"]["completed"], done["progress"]["total"]) == ("completed", 2, 2)


def test_settings_of_a_batch_count_for_it_alone(server: RunningServer) -> None:
    three(server)
    batch = server.run("01-walls", settings={"maxBatchSize": 1, "retries": 0, "timeout": "5m", "verify": None})
    settings = server.batch(batch)["settings"]
    assert (settings["maxBatchSize"], settings["retries"], settings["timeout"]) == (1, 0, 300.0)
    assert server.get("/api/settings")["retries"] == 2


def test_with_needs_whatever_is_needed_is_run_too(server: RunningServer) -> None:
    server.project.task("01-walls", "true")
    server.project.task("02-roof", "true", needs="[01-walls]")
    batch = server.run("02-roof", withNeeds=True)
    assert [*server.statuses(batch)] == ["01-walls", "02-roof"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "taskIds"),
        ({"taskIds": []}, "taskIds"),
        ({"taskIds": "01-walls"}, "taskIds"),
        ({"taskIds": [1]}, "taskIds.0"),
        ({"taskIds": ["01-walls"], "mode": "sideways"}, "mode"),
        ({"taskIds": ["01-walls"], "settings": {"retrys": 1}}, "settings.retrys"),
        ({"taskIds": ["01-walls"], "settings": {"parallelLimit": 1}}, "settings.parallelLimit"),
        ({"taskIds": ["01-walls"], "settings": {"retries": -1}}, "settings.retries"),
        ({"taskIds": ["01-walls"], "settings": {"prompt": "/etc/passwd"}}, "settings.prompt"),
        ({"taskIds": ["01-walls"], "taskId": 1}, "taskId"),
    ],
)
def test_what_can_not_be_so_is_told_with_its_field(server: RunningServer, body: object, field: str) -> None:
    three(server)
    assert refuse(server, 422, body)["field"] == field


def test_an_agent_that_nobody_knows_is_told(server: RunningServer) -> None:
    server.project.task("01-walls")
    told = refuse(server, 422, {"taskIds": ["01-walls"], "settings": {"agent": "nobody"}})
    assert "nobody" in str(told["error"])


def test_a_body_that_is_no_json_is_refused(server: RunningServer) -> None:
    answer = server.client.post("/api/batches", content=b"{", headers={"Content-Type": "application/json"})
    assert server.check_status(answer, 422)["field"] == "body"
    deep = b"[" * 100_000
    answer = server.client.post("/api/batches", content=deep, headers={"Content-Type": "application/json"})
    assert answer.status_code in {400, 422}
    assert "error" in answer.json()


@pytest.mark.parametrize("name", ["01", "nobody", "..", "tasks/01-walls.md", "x" * 10_000, "0\u20281", "*"])
def test_a_task_is_found_by_its_whole_id_or_not_at_all(server: RunningServer, name: str) -> None:
    three(server)
    assert name[:5] in str(refuse(server, 404, {"taskIds": [name]})["error"])


def test_what_is_complete_is_not_run_again(server: RunningServer) -> None:
    server.project.task("01-walls", "true", status="done")
    told = refuse(server, 409, {"taskIds": ["01-walls"]})
    assert told["state"] == "completed"


def test_needs_in_a_circle_are_told_as_problems(server: RunningServer) -> None:
    server.project.task("01-walls", "true", needs="[02-roof]")
    server.project.task("02-roof", "true", needs="[01-walls]")
    told = refuse(server, 422, {"taskIds": ["01-walls", "02-roof"]})
    problems = told["problems"]
    assert isinstance(problems, list)
    assert any("01-walls → 02-roof → 01-walls" in problem["message"] for problem in problems)
    plan = server.post("/api/plan", {"taskIds": ["01-walls", "02-roof"]})
    assert plan["tasks"] == []
    assert [problem["message"] for problem in plan["problems"]] == [problem["message"] for problem in problems]


def test_commands_of_the_repository_wait_for_a_person(fresh_server: RunningServer) -> None:
    three(fresh_server)
    fresh_server.project.write("plait.toml", '[run]\nverify = "make check"')
    told = refuse(fresh_server, 409, {"taskIds": ["01-walls"]})
    assert told["problems"] == [
        {
            "severity": "error",
            "message": "run.verify = make check",
            "file": "plait.toml",
            "line": 2,
            "hint": None,
            "field": None,
        }
    ]
    assert "plait" in str(told["hint"])
    assert fresh_server.project.plait("trust", "--yes").code == 0
    fresh_server.wait_until_finished(fresh_server.run("01-walls", settings={"verify": "true"}))


def test_settings_of_the_repository_that_can_not_be_read_are_told(server: RunningServer) -> None:
    three(server)
    server.project.write("plait.toml", "[run]\nretries = many")
    told = refuse(server, 409, {"taskIds": ["01-walls"]})
    assert "plait.toml" in str(told["error"])


def test_a_task_of_an_open_batch_is_not_begun_beside_it(server: RunningServer) -> None:
    three(server, "while [ ! -e go ]; do sleep 0.05; done")
    batch = server.run("01-walls")
    told = server.post("/api/batches", {"taskIds": ["01-walls"]}, 409)
    assert batch in told["error"]
    server.project.write("go", "")
    server.wait_until_finished(batch)


def test_batches_are_listed_newest_first(server: RunningServer) -> None:
    three(server)
    first, second = server.run("01-walls"), server.run("02-roof")
    told = server.get("/api/batches")
    assert [batch["id"] for batch in told["batches"][:2]] == [second, first]
    assert told["batches"][0]["tasks"][0]["taskId"] == "02-roof"
    assert {*told["engine"]} == {"pid", "since", "trouble"}
    (brief,) = server.get("/api/batches", limit=1, tasks="false")["batches"]
    assert (brief["id"], "tasks" in brief) == (second, False)
    assert server.get("/api/batches", 422, limit=0)["field"] == "limit"


def test_an_open_batch_is_listed_however_old_it_is(server: RunningServer) -> None:
    three(server)
    server.project.task("01-walls", "until [ -e go ]; do sleep 0.02; done")
    first, second, third = server.run("01-walls"), server.run("02-roof"), server.run("03-door")
    server.wait_until_finished(second)
    server.wait_until_finished(third)

    def listed(limit: int, *, open_: str = "true") -> list[str]:
        told = server.get("/api/batches", limit=limit, open=open_, tasks="false")
        return [batch["id"] for batch in told["batches"]]

    assert listed(1, open_="false") == [third]
    assert listed(1) == [third, first]
    assert listed(3) == [third, second, first]
    server.project.write("go", "")
    server.wait_until_finished(first)
    assert listed(1) == [third]


def test_a_batch_is_found_by_the_beginning_of_its_id(fresh_server: RunningServer) -> None:
    three(fresh_server)
    batch = fresh_server.run("01-walls")
    assert fresh_server.get(f"/api/batches/{batch[:3]}")["id"] == batch
    for name in ("nobody", "..%2f..", "%00", "x" * 200, "ф"):
        assert fresh_server.get(f"/api/batches/{name}", 404)["error"]


def test_what_could_be_two_batches_names_both(place: RepoLocation) -> None:
    writer = JournalWriter(place)
    writer.submit("7f3a", "walls", "walls-2", "roof")
    writer.submit("7f3b", "door")
    with pytest.raises(StateError, match="7f is ambiguous: batch 7f3a or batch 7f3b") as caught:
        resolve_batch(writer.state, "7f")
    assert caught.value.state == "ambiguous"
    batch = resolve_batch(writer.state, "7f3a")
    with pytest.raises(StateError, match="w is ambiguous"):
        resolve_task(batch, "w")
    assert resolve_task(batch, "walls").task.id == "walls"
    with pytest.raises(NotFoundError):
        resolve_task(batch, "")


def test_before_the_first_batch_there_is_none(fresh_server: RunningServer) -> None:
    answer = fresh_server.client.get("/api/batches")
    assert answer.json() == {"engine": None, "batches": []}
    assert answer.headers["Plait-Mark"] == "0"
    assert fresh_server.get("/api/batches/7f3a", 404)["field"] is None


def test_a_reading_carries_the_mark_to_listen_from(server: RunningServer) -> None:
    three(server)
    batch = server.run("01-walls")
    server.wait_until_finished(batch)
    for path in (f"/api/batches/{batch}", "/api/batches", "/api/tasks"):
        mark = EventCursor.parse(server.client.get(path).headers["Plait-Mark"])
        assert mark is not None
        assert mark.seq > 3


def test_whoever_asks_twice_with_one_key_gets_one_batch(server: RunningServer) -> None:
    three(server)
    before = server.batch_ids()
    body = {"taskIds": ["01-walls"]}
    key = {"Idempotency-Key": "a-1"}
    first = server.check_status(server.client.post("/api/batches", json=body, headers=key), 201)
    server.wait_until_finished(first["id"])
    again = server.check_status(server.client.post("/api/batches", json=body, headers=key), 201)
    assert again["id"] == first["id"]
    assert server.batch_ids() == [first["id"], *before]


def test_a_plan_is_shown_and_nothing_is_started(fresh_server: RunningServer) -> None:
    fresh_server.project.task("01-walls", "true")
    fresh_server.project.task("02-roof", "true", needs="[01-walls]")
    fresh_server.project.task("03-door", "true", status="done")
    plan = fresh_server.post("/api/plan", {"taskIds": ["02-roof", "01-walls"]})
    assert plan["waves"] == [["01-walls"], ["02-roof"]]
    assert plan["tasks"][1]["needs"][0]["id"] == "01-walls"
    everything = fresh_server.post("/api/plan", {})
    assert everything["waves"] == plan["waves"]
    assert fresh_server.post("/api/plan", {"taskIds": ["nobody"]}, 404)["error"] == "there is no task nobody"
    assert not (fresh_server.project.top / ".git" / "plait" / "journal.db").exists()


def test_of_two_who_ask_at_once_with_one_key_both_get_the_same_batch(server: RunningServer) -> None:
    three(server)
    before = server.batch_ids()

    def ask(_: int) -> str:
        body, key = {"taskIds": ["01-walls"]}, {"Idempotency-Key": "same"}
        return str(server.check_status(server.client.post("/api/batches", json=body, headers=key), 201)["id"])

    with ThreadPoolExecutor(4) as several:
        (batch,) = {*several.map(ask, range(4))}
    assert server.batch_ids() == [batch, *before]


def test_a_preview_says_what_would_keep_it_from_being_run(server: RunningServer) -> None:
    three(server, "while [ ! -e go ]; do sleep 0.05; done")
    server.project.write("plait.toml", '[run]\nverify = "make check"')
    batch = server.run("01-walls", settings={"verify": "true"})
    plan = server.post("/api/plan", {"taskIds": ["01-walls", "02-roof"]})
    assert plan["waves"] == [["01-walls", "02-roof"]]
    twice, untrusted = (each["message"] for each in plan["problems"] if each["severity"] == "error")
    assert twice == f"batch {batch} has not finished with 01-walls"
    assert "make check" in untrusted or "trust" in untrusted
    server.project.write("go", "")
    server.wait_until_finished(batch)


def test_hints_are_in_the_words_of_the_interface(server: RunningServer) -> None:
    server.project.task("01-walls", "true")
    server.project.task("02-roof", "true", needs="[01-walls]")
    (problem,) = server.post("/api/batches", {"taskIds": ["02-roof"]}, 422)["problems"]
    assert problem["hint"] == "`withNeeds` adds it, `ignoreNeeds` ignores it."
    assert server.post("/api/plan", {"taskIds": ["02-roof"]})["problems"][0]["hint"] == problem["hint"]
    batch = server.run("02-roof", ignoreNeeds=True)
    assert server.wait_until_finished(batch)["status"] == "completed"


def test_a_contest_is_between_agents_that_can_enter_one(server: RunningServer) -> None:
    three(server)
    for contest, words in (({"times": 2}, "in place"), ({"agents": ["nobody"]}, "in place")):
        told = refuse(server, 422, {"taskIds": ["01-walls"], "contest": contest})
        assert (told["field"], words in str(told["error"])) == ("contest", True)
    assert refuse(server, 422, {"taskIds": ["01-walls"], "contest": {"times": 0}})["field"] == "contest.times"
    assert refuse(server, 422, {"taskIds": ["01-walls"], "contest": {"agents": []}})["field"] == "contest.agents"


def test_where_there_are_no_sources_there_is_no_task(server: RunningServer) -> None:
    assert refuse(server, 404, {"taskIds": ["01-walls"]})["error"] == "there is no task 01-walls"
    assert server.get("/api/tasks/01-walls", 404)["error"] == "there is no task 01-walls"
    assert server.patch("/api/tasks/01-walls", {"version": "1", "title": "x"}, 404)["error"]
    plan = server.post("/api/plan")
    assert (plan["tasks"], plan["problems"][0]["severity"]) == ([], "error")
