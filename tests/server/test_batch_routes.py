"""Batches over HTTP: plan, create, list and read, and what is refused."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from plait.client.api_errors import NotFoundError, StateError
from plait.git.location import RepoLocation
from plait.server.event_buffer import EventCursor
from plait.server.lookup import resolve_batch, resolve_task
from tests.support.journal_writer import JournalWriter
from tests.support.running_server import RunningServer, serve_project
from tests.support.temp_project import TempProject, use_environment

NAMES = ["01-walls", "02-roof", "03-door"]


@pytest.fixture
def location(tmp_path: Path) -> RepoLocation:
    return RepoLocation(tmp_path, tmp_path / ".plait", repository=False)


def write_tasks(server: RunningServer, run: str = "echo hello") -> None:
    for name in NAMES:
        server.project.task(name, run)


def refuse(server: RunningServer, status: int, body: object, path: str = "/api/batches") -> dict[str, object]:
    """The error. Nothing was started."""
    before = server.batch_ids()
    result: dict[str, object] = server.post(path, body, status)
    assert {*result} == {"error", "hint", "field", "state", "problems"}
    assert server.batch_ids() == before
    return result


def test_tasks_are_run_by_their_exact_ids(server: RunningServer) -> None:
    write_tasks(server)
    made = server.post("/api/batches", {"taskIds": ["03-door", "01-walls"], "mode": "parallel"}, 201)
    assert {*made} == {"id", "status", "mode", "branch", "tasks", "createdAt", "problems", "accepted"}
    assert [task["taskId"] for task in made["tasks"]] == ["03-door", "01-walls"]
    assert made["mode"] == "parallel"
    done = server.wait_until_finished(made["id"])
    assert (done["status"], done["progress"]["completed"], done["progress"]["total"]) == ("completed", 2, 2)


def test_a_queue_runs_in_the_order_of_the_request(server: RunningServer) -> None:
    """What a task needs is run before it, wherever it stands."""
    write_tasks(server, 'echo "$PLAIT_TASK_ID" >> order')
    server.project.task("04-lamp", 'echo "$PLAIT_TASK_ID" >> order', needs="[02-roof]")
    wanted = {"mode": "queue", "settings": {"queueAutoApprove": True}, "withNeeds": True}
    batch = server.run("03-door", "04-lamp", "01-walls", **wanted)
    server.wait_until_finished(batch)
    assert server.project.read("order").split() == ["02-roof", "03-door", "04-lamp", "01-walls"]


def test_a_task_has_both_its_id_and_its_name_in_the_source(server: RunningServer) -> None:
    server.project.task("task-1", "false")
    server.project.task("task-2", "true")
    assert {task["id"] for task in server.get("/api/tasks")["tasks"]} >= {"1", "2"}
    assert [task["id"] for task in server.post("/api/plan", {"taskIds": ["task-2", "1"]}, 200)["tasks"]] == ["2", "1"]
    made = server.post("/api/batches", {"taskIds": ["task-1", "2", "task-2"], "settings": {"retries": 0}}, 201)
    assert [task["taskId"] for task in made["tasks"]] == ["1", "2"]
    batch = made["id"]
    server.wait_until_finished(batch)
    for name in ("1", "task-1"):
        assert server.get(f"/api/batches/{batch}/tasks/{name}/explain")["taskId"] == "1"
        assert server.get(f"/api/batches/{batch}/standing", task=name)["tasks"][0]["taskId"] == "1"
    bulk = server.post("/api/bulk", {"action": "drop", "taskIds": ["task-1", "task-9"]})
    assert [(one["taskId"], one["result"]) for one in bulk["results"]] == [("1", "granted"), ("task-9", "unknown")]
    assert "task-9" in refuse(server, 404, {"taskIds": ["task-9"]})["error"]  # type: ignore[operator]


def test_settings_of_a_batch_apply_to_it_alone(server: RunningServer) -> None:
    write_tasks(server)
    batch = server.run("01-walls", settings={"maxBatchSize": 1, "retries": 0, "timeout": "5m", "verify": None})
    settings = server.batch(batch)["settings"]
    assert (settings["maxBatchSize"], settings["retries"], settings["timeout"]) == (1, 0, 300.0)
    assert server.get("/api/settings")["retries"] == 2


def test_with_needs_adds_the_needed_tasks(server: RunningServer) -> None:
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
def test_an_invalid_body_is_refused_with_its_field(server: RunningServer, body: object, field: str) -> None:
    write_tasks(server)
    assert refuse(server, 422, body)["field"] == field


def test_an_unknown_agent_is_refused(server: RunningServer) -> None:
    server.project.task("01-walls")
    result = refuse(server, 422, {"taskIds": ["01-walls"], "settings": {"agent": "nobody"}})
    assert "nobody" in str(result["error"])


def test_a_body_that_is_not_json_is_refused(server: RunningServer) -> None:
    answer = server.client.post("/api/batches", content=b"{", headers={"Content-Type": "application/json"})
    assert server.check_status(answer, 422)["field"] == "body"
    deep = b"[" * 100_000
    answer = server.client.post("/api/batches", content=deep, headers={"Content-Type": "application/json"})
    assert answer.status_code in {400, 422}
    assert "error" in answer.json()


@pytest.mark.parametrize("name", ["01", "nobody", "..", "tasks/01-walls.md", "x" * 10_000, "0\u20281", "*"])
def test_a_task_is_found_only_by_its_exact_id(server: RunningServer, name: str) -> None:
    write_tasks(server)
    assert name[:5] in str(refuse(server, 404, {"taskIds": [name]})["error"])


def test_a_completed_task_is_refused(server: RunningServer) -> None:
    server.project.task("01-walls", "true", status="done")
    result = refuse(server, 409, {"taskIds": ["01-walls"]})
    assert result["state"] == "completed"


def test_circular_dependencies_are_listed_as_problems(server: RunningServer) -> None:
    server.project.task("01-walls", "true", needs="[02-roof]")
    server.project.task("02-roof", "true", needs="[01-walls]")
    result = refuse(server, 422, {"taskIds": ["01-walls", "02-roof"]})
    problems = result["problems"]
    assert isinstance(problems, list)
    assert any("01-walls → 02-roof → 01-walls" in problem["message"] for problem in problems)
    plan = server.post("/api/plan", {"taskIds": ["01-walls", "02-roof"]})
    assert plan["tasks"] == []
    assert [problem["message"] for problem in plan["problems"]] == [problem["message"] for problem in problems]


def test_commands_of_the_repository_need_trust(fresh_server: RunningServer) -> None:
    write_tasks(fresh_server)
    fresh_server.project.write("plait.toml", '[run]\nverify = "make check"')
    result = refuse(fresh_server, 409, {"taskIds": ["01-walls"]})
    assert result["problems"] == [
        {
            "severity": "error",
            "message": "run.verify = make check",
            "file": "plait.toml",
            "line": 2,
            "hint": None,
            "field": None,
        }
    ]
    assert "plait" in str(result["hint"])
    assert fresh_server.project.plait("trust", "--yes").code == 0
    fresh_server.wait_until_finished(fresh_server.run("01-walls", settings={"verify": "true"}))


def test_invalid_settings_of_the_repository_are_reported(server: RunningServer) -> None:
    write_tasks(server)
    server.project.write("plait.toml", "[run]\nretries = many")
    result = refuse(server, 409, {"taskIds": ["01-walls"]})
    assert "plait.toml" in str(result["error"])


def test_a_task_of_an_open_batch_is_refused(server: RunningServer) -> None:
    write_tasks(server, "while [ ! -e go ]; do sleep 0.05; done")
    batch = server.run("01-walls")
    result = server.post("/api/batches", {"taskIds": ["01-walls"]}, 409)
    assert batch in result["error"]
    server.project.write("go", "")
    server.wait_until_finished(batch)


def test_batches_are_listed_newest_first(server: RunningServer) -> None:
    write_tasks(server)
    first, second = server.run("01-walls"), server.run("02-roof")
    result = server.get("/api/batches")
    assert [batch["id"] for batch in result["batches"][:2]] == [second, first]
    assert result["batches"][0]["tasks"][0]["taskId"] == "02-roof"
    assert {*result["engine"]} == {"pid", "since", "trouble", "nodes"}
    (brief,) = server.get("/api/batches", limit=1, tasks="false")["batches"]
    assert (brief["id"], "tasks" in brief) == (second, False)
    assert server.get("/api/batches", 422, limit=0)["field"] == "limit"


def test_open_batches_are_listed_beyond_the_limit(server: RunningServer) -> None:
    write_tasks(server)
    server.project.task("01-walls", "until [ -e go ]; do sleep 0.02; done")
    first, second, third = server.run("01-walls"), server.run("02-roof"), server.run("03-door")
    server.wait_until_finished(second)
    server.wait_until_finished(third)

    def listed(limit: int, **query: str) -> list[str]:
        result = server.get("/api/batches", 200, limit=limit, tasks="false", **query)
        return [batch["id"] for batch in result["batches"]]

    assert listed(1) == [third]
    assert listed(1, allOpen="true") == [third, first]
    assert listed(3, allOpen="true") == [third, second, first]
    assert listed(100, open="true") == [first]
    assert listed(2, open="false") == [third, second]
    server.project.write("go", "")
    server.wait_until_finished(first)
    assert listed(1, allOpen="true") == [third]
    assert listed(100, open="true") == []


def test_a_batch_is_found_by_a_unique_prefix_of_its_id(fresh_server: RunningServer) -> None:
    write_tasks(fresh_server)
    batch = fresh_server.run("01-walls")
    assert fresh_server.get(f"/api/batches/{batch[:3]}")["id"] == batch
    for name in ("nobody", "..%2f..", "%00", "x" * 200, "ф"):
        assert fresh_server.get(f"/api/batches/{name}", 404)["error"]


def test_an_ambiguous_prefix_names_the_candidates(location: RepoLocation) -> None:
    writer = JournalWriter(location)
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


def test_the_list_is_empty_before_the_first_batch(fresh_server: RunningServer) -> None:
    answer = fresh_server.client.get("/api/batches")
    assert answer.json() == {"engine": None, "batches": [], "limits": []}
    assert answer.headers["Plait-Mark"] == "0"
    assert fresh_server.get("/api/batches/7f3a", 404)["field"] is None


def test_responses_carry_the_cursor_to_continue_from(server: RunningServer) -> None:
    write_tasks(server)
    batch = server.run("01-walls")
    server.wait_until_finished(batch)
    for path in (f"/api/batches/{batch}", "/api/batches", "/api/tasks"):
        mark = EventCursor.parse(server.client.get(path).headers["Plait-Mark"])
        assert mark is not None
        assert mark.seq > 3


def test_a_repeated_submission_with_a_key_creates_one_batch(server: RunningServer) -> None:
    write_tasks(server)
    before = server.batch_ids()
    body = {"taskIds": ["01-walls"]}
    key = {"Idempotency-Key": "a-1"}
    first = server.check_status(server.client.post("/api/batches", json=body, headers=key), 201)
    server.wait_until_finished(first["id"])
    again = server.check_status(server.client.post("/api/batches", json=body, headers=key), 201)
    assert again["id"] == first["id"]
    assert server.batch_ids() == [first["id"], *before]


def test_an_idempotency_key_reused_with_a_different_body_gets_422(server: RunningServer) -> None:
    write_tasks(server)
    key = {"Idempotency-Key": "a-2"}
    first = server.check_status(server.client.post("/api/batches", json={"taskIds": ["01-walls"]}, headers=key), 201)
    server.wait_until_finished(first["id"])
    before = server.batch_ids()
    other = {"taskIds": ["01-walls"], "settings": {"retries": 3}}
    refused = server.check_status(server.client.post("/api/batches", json=other, headers=key), 422)
    assert refused["field"] == "Idempotency-Key"
    assert server.batch_ids() == before


def test_a_plan_is_shown_without_starting_anything(fresh_server: RunningServer) -> None:
    fresh_server.project.task("01-walls", "true")
    fresh_server.project.task("02-roof", "true", needs="[01-walls]")
    fresh_server.project.task("03-door", "true", status="done")
    plan = fresh_server.post("/api/plan", {"taskIds": ["02-roof", "01-walls"]})
    assert plan["waves"] == [["01-walls"], ["02-roof"]]
    assert plan["tasks"][0]["needs"][0]["id"] == "01-walls"
    everything = fresh_server.post("/api/plan", {})
    assert everything["waves"] == plan["waves"]
    assert fresh_server.post("/api/plan", {"taskIds": ["nobody"]}, 404)["error"] == "there is no task nobody"
    assert not (fresh_server.project.top / ".git" / "plait" / "journal.db").exists()


def test_concurrent_submissions_with_one_key_create_one_batch(server: RunningServer) -> None:
    write_tasks(server)
    before = server.batch_ids()

    def ask(_: int) -> str:
        body, key = {"taskIds": ["01-walls"]}, {"Idempotency-Key": "same"}
        return str(server.check_status(server.client.post("/api/batches", json=body, headers=key), 201)["id"])

    with ThreadPoolExecutor(4) as several:
        (batch,) = {*several.map(ask, range(4))}
    assert server.batch_ids() == [batch, *before]


def test_a_plan_lists_what_prevents_it_from_being_run(server: RunningServer) -> None:
    write_tasks(server, "while [ ! -e go ]; do sleep 0.05; done")
    server.project.write("plait.toml", '[run]\nverify = "make check"')
    batch = server.run("01-walls", settings={"verify": "true"})
    plan = server.post("/api/plan", {"taskIds": ["01-walls", "02-roof"]})
    assert plan["waves"] == [["01-walls", "02-roof"]]
    twice, untrusted = (each["message"] for each in plan["problems"] if each["severity"] == "error")
    assert twice == f"batch {batch} has not finished with 01-walls"
    assert "make check" in untrusted or "trust" in untrusted
    server.project.write("go", "")
    server.wait_until_finished(batch)


def test_completed_tasks_run_again_only_by_name_or_with_again(server: RunningServer) -> None:
    server.project.task("01-once", "true # once")
    server.wait_until_finished(server.run("01-once"))
    planned = server.post("/api/plan", {})
    assert "01-once" not in [task["id"] for task in planned["tasks"]]
    assert any(
        "01-once" in problem["message"] and problem["hint"] == "`again` runs it again."
        for problem in planned["problems"]
    )
    for body in ({"again": True}, {"taskIds": ["01-once"]}):
        assert "01-once" in [task["id"] for task in server.post("/api/plan", body)["tasks"]]
    assert server.post("/api/plan", {"taskIds": ["01-once"], "again": False})["tasks"] == []
    refused = server.post("/api/batches", {"taskIds": ["01-once"], "again": False}, 409)
    assert (refused["state"], "`again` runs it again" in refused["hint"]) == ("completed", True)


def test_without_git_a_setting_must_allow_changes_in_place(project: TempProject, tmp_path: Path) -> None:
    project.task("01-walls", "touch walls")
    shutil.rmtree(project.top / ".git")
    del project.env["PLAIT_ISOLATION"]
    with use_environment(project.env), serve_project(project, tmp_path / "projects.json") as server:
        refused = server.post("/api/batches", {"taskIds": ["01-walls"]}, 409)
        assert "isn't a git repository: agents would change its files directly" in refused["error"]
        assert refused["hint"] == "Run git init and make a first commit; or allow it with `isolation` in-place."
        errors = [each for each in server.post("/api/plan")["problems"] if each["severity"] == "error"]
        assert [error["message"] for error in errors] == [refused["error"]]
        batch = server.run("01-walls", settings={"isolation": "in-place"})
        assert server.wait_until_finished(batch)["status"] == "completed"


def test_hints_use_the_names_of_the_api(server: RunningServer) -> None:
    server.project.task("01-walls", "true # new")
    server.project.task("02-roof", "true # new", needs="[01-walls]")
    (problem,) = server.post("/api/batches", {"taskIds": ["02-roof"]}, 422)["problems"]
    assert problem["hint"] == "`withNeeds` adds it, `ignoreNeeds` ignores it."
    assert server.post("/api/plan", {"taskIds": ["02-roof"]})["problems"][0]["hint"] == problem["hint"]
    batch = server.run("02-roof", ignoreNeeds=True)
    assert server.wait_until_finished(batch)["status"] == "completed"


def test_a_contest_with_unusable_agents_is_refused(server: RunningServer) -> None:
    write_tasks(server)
    for contest, expected in (({"times": 2}, "in place"), ({"agents": ["nobody"]}, "in place")):
        result = refuse(server, 422, {"taskIds": ["01-walls"], "contest": contest})
        assert (result["field"], expected in str(result["error"])) == ("contest", True)
    assert refuse(server, 422, {"taskIds": ["01-walls"], "contest": {"times": 0}})["field"] == "contest.times"
    assert refuse(server, 422, {"taskIds": ["01-walls"], "contest": {"agents": []}})["field"] == "contest.agents"


def test_without_sources_every_task_is_unknown(server: RunningServer) -> None:
    assert refuse(server, 404, {"taskIds": ["01-walls"]})["error"] == "there is no task 01-walls"
    assert server.get("/api/tasks/01-walls", 404)["error"] == "there is no task 01-walls"
    assert server.patch("/api/tasks/01-walls", {"version": "1", "title": "x"}, 404)["error"]
    plan = server.post("/api/plan")
    assert (plan["tasks"], plan["problems"][0]["severity"]) == ([], "error")


def test_no_batch_starts_if_its_checks_fail_on_the_base(worktree_server: RunningServer) -> None:
    server = worktree_server
    server.project.task("01-walls", "echo walls > walls.txt")
    server.project.commit_all()
    settings = {"preflight": True, "verify": "echo checking; test -f walls.txt"}
    body = {"taskIds": ["01-walls"], "settings": settings}
    error = refuse(server, 409, body)
    assert str(error["error"]).startswith("verify fails on the base commit")
    assert str(error["error"]).endswith("exit status 1\n  checking")
    assert "`preflight: false`" in str(error["hint"])
    assert not [problem for problem in server.post("/api/plan", body)["problems"] if problem["severity"] == "error"]

    batch = server.run("01-walls", settings=settings | {"preflight": False})
    assert server.wait_until_finished(batch)["status"] == "completed"


def test_a_batch_for_a_cluster_that_is_not_there_is_refused(fresh_worktree_server: RunningServer) -> None:
    server = fresh_worktree_server
    server.project.task("01-walls", "true")
    server.project.commit_all()
    config = Path(server.project.env["XDG_CONFIG_HOME"], "plait", "config.toml")
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('[ray]\naddress = "127.0.0.2:1"\n')
    for preflight in (True, False):
        body = {"taskIds": ["01-walls"], "settings": {"executor": "ray", "preflight": preflight}}
        error = refuse(server, 409, body)
        assert str(error["error"]).startswith("can't reach the Ray cluster at 127.0.0.2:1")
    assert not server.project.state().batches


def test_a_program_that_is_not_installed_is_a_problem_of_the_plan(server: RunningServer) -> None:
    server.project.task("01-walls", "true")
    body = {"taskIds": ["01-walls"], "settings": {"preflight": True, "verify": "no-checker"}}
    message = "no-checker is not installed, and verify runs it"
    assert message in server.post("/api/plan", body)["problems"][0]["message"]
    assert message in str(refuse(server, 422, body)["error"])
