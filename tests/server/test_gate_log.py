"""What gates printed, over HTTP."""

from __future__ import annotations

import os
from pathlib import Path

from tests.support.running_server import RunningServer
from tests.support.waiting import wait_until

SECRET = "correct-horse-battery-staple"


def test_the_log_of_a_gate_is_read_in_parts_without_secrets(worktree_server: RunningServer) -> None:
    server = worktree_server
    os.environ["MY_SECRET_KEY"] = SECRET
    worktree_server.project.task("01-walls", "echo walls > walls.txt")
    worktree_server.project.task("02-fire", "echo fire > fire.txt", needs="[01-walls]")
    worktree_server.project.commit_all()
    gate = f"printf '\\033[31m<b>looking\\033[0m\\n'; echo {SECRET}; if [ -e fire.txt ]; then echo it burns; exit 1; fi"
    batch = server.run("01-walls", "02-fire", settings={"gate": gate})
    server.wait_until_finished(batch)
    spans = server.get(f"/api/batches/{batch}/timeline")["spans"]
    results = {span["n"]: span["result"] for span in spans if span["kind"] == "gate"}
    (failed,) = [n for n, result in results.items() if result == "failed"]
    path = f"/api/batches/{batch}/log"
    response = server.client.get(path, params={"gate": failed})
    lines = response.text.splitlines()
    assert (lines[0], lines[-1]) == ("<b>looking", "it burns")
    assert SECRET not in response.text
    assert response.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert [response.headers[f"Plait-{name}"] for name in ("Gate", "Offset", "Ended")] == [
        str(failed),
        "0",
        "true",
    ]
    assert server.client.get(path, params={"gate": failed, "from": -9}).text == "it burns\n"
    beyond = server.client.get(path, params={"gate": failed, "from": response.headers["Plait-Next"]})
    assert (beyond.status_code, beyond.text) == (200, "")
    assert server.client.get(path).headers["Plait-Gate"] == str(max(results))
    passed = [n for n, result in results.items() if result == "passed"]
    assert passed
    for n in passed:
        other = server.client.get(path, params={"gate": n})
        assert (other.headers["Plait-Gate"], "it burns" in other.text) == (str(n), False)
    of_task = server.client.get(f"/api/batches/{batch}/tasks/02-fire/log")  # the gate that failed with it
    assert (of_task.headers["Plait-Gate"], "it burns" in of_task.text) == (str(failed), True)
    assert server.get(path, 404, gate=99)["error"] == f"batch {batch} has no gate 99"
    for query, field in (({"gate": 0}, "gate"), ({"from_": "x"}, "from"), ({"limit": 1}, "limit")):
        assert server.get(path, 422, **query)["field"] == field


def test_the_log_of_a_running_gate_is_read(worktree_server: RunningServer, tmp_path: Path) -> None:
    server, go = worktree_server, tmp_path / "go"
    worktree_server.project.task("01-walls", "echo walls > walls.txt")
    worktree_server.project.commit_all()
    gate = f"echo one; until [ -e {go} ]; do sleep 0.02; done; echo two"
    batch = server.run("01-walls", settings={"gate": gate})
    path = f"/api/batches/{batch}/log"
    wait_until(lambda: server.client.get(path).text == "one\n")
    running = server.client.get(path)
    assert running.headers["Plait-Ended"] == "false"
    go.touch()
    server.wait_until_finished(batch)
    rest = server.client.get(path, params={"from": running.headers["Plait-Next"]})
    assert (rest.text, rest.headers["Plait-Ended"]) == ("two\n", "true")


def test_a_batch_without_a_gate_has_no_gate_log(server: RunningServer) -> None:
    server.project.task("01-walls", "true")
    batch = server.run("01-walls")
    server.wait_until_finished(batch)
    result = server.get(f"/api/batches/{batch}/log", 404)
    assert result["error"] == f"batch {batch}: no gate is set, so there is nothing to read"
    assert server.get("/api/batches/nothing/log", 404)["error"]
