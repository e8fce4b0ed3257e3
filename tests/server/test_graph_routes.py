"""The graph and the timeline of a batch over HTTP."""

from __future__ import annotations

from tests.support.running_server import RunningServer


def test_a_graph_has_statuses_and_reasons(server: RunningServer) -> None:
    server.project.task("01-walls", "echo no wood >&2; exit 1", phase="1")
    server.project.task("02-roof", "true", needs="[01-walls]", touches="[roof.txt]", phase="Roof")
    server.project.task("03-tiles", "true", touches="[roof.txt]")
    batch = server.run("01-walls", "02-roof", "03-tiles", settings={"retries": 0})
    server.wait_until_finished(batch)
    result = server.get(f"/api/batches/{batch}/graph")
    assert {node["taskId"]: (node["status"], node["wave"]) for node in result["nodes"]} == {
        "01-walls": ("failed", 1),
        "02-roof": ("blocked", 2),
        "03-tiles": ("done", 1),
    }
    assert [(node["reason"], node["short"]) for node in result["nodes"][:1]] == [
        ("the agent failed: exit status 1: no wood", "no wood")
    ]
    (edge,) = result["edges"]
    assert (edge["from"], edge["to"], edge["kind"]) == ("01-walls", "02-roof", "need")
    assert edge["at"].startswith("tasks/02-roof.md")
    assert result["waves"] == [["01-walls", "03-tiles"], ["02-roof"]]
    assert result["phases"] == [{"key": "1", "title": "Phase 1"}, {"key": "Roof", "title": "Roof"}]
    assert result["criticalPath"] == ["01-walls", "02-roof"]
    assert result["conflicts"] == [{"file": "roof.txt", "tasks": ["02-roof", "03-tiles"]}]
    assert server.get("/api/batches/nobody/graph", 404)["error"]


def test_a_timeline_has_attempts_and_waits(server: RunningServer) -> None:
    server.project.task("01-walls", "test -e once || { touch once; exit 1; }")
    server.project.task("02-roof", "true", needs="[01-walls]")
    batch = server.run("01-walls", "02-roof", settings={"retries": 0})
    server.wait_until_finished(batch)
    server.post(f"/api/batches/{batch}/retry")
    server.wait_until_finished(batch)
    result = server.get(f"/api/batches/{batch}/timeline")
    walls, roof = result["tasks"]
    assert [(span["kind"], span["n"], span["result"]) for span in walls["spans"]] == [
        ("write", 1, "task"),
        ("write", 2, "ok"),
    ]
    assert (walls["retries"], walls["status"]) == ([], "done")
    assert roof["waits"][0]["startedAt"] == result["startedAt"]
    assert roof["waits"][-1]["completedAt"] == roof["spans"][0]["startedAt"]
    assert result["completedAt"] is not None
    assert server.get("/api/batches/nobody/timeline", 404)["error"]
