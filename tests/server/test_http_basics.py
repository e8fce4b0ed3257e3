"""HTTP basics: methods, bodies and their types, paths."""

from __future__ import annotations

import httpx
import pytest

from tests.support.running_server import RunningServer


def allowed(answer: httpx.Response) -> set[str]:
    assert answer.status_code == 405, answer.text
    return set(answer.headers["Allow"].split(", "))


def test_an_unsupported_method_gets_the_allowed_ones(server: RunningServer) -> None:
    ask = server.client.request
    assert allowed(ask("PUT", "/api/tasks/01-walls")) == {"GET", "HEAD", "PATCH"}
    assert allowed(ask("GET", "/api/batches/7f3a/cancel")) == {"POST"}
    assert allowed(ask("DELETE", "/api/settings")) == {"GET", "HEAD", "PATCH"}
    assert allowed(ask("OPTIONS", "/health")) == {"GET", "HEAD"}


def test_head_has_the_headers_of_get_and_no_body(server: RunningServer) -> None:
    server.project.task("01-walls", "true")
    for path in ("/health", "/api/tasks", "/api/batches/nobody"):
        got, head = server.client.get(path), server.client.head(path)
        assert (head.status_code, head.content) == (got.status_code, b"")
        assert head.headers["Content-Length"] == got.headers["Content-Length"]
        assert head.headers.get("Plait-Mark") == got.headers.get("Plait-Mark")


def test_head_is_not_allowed_for_the_event_stream(server: RunningServer) -> None:
    assert allowed(server.client.head("/api/events")) == {"GET"}


@pytest.mark.parametrize("path", ["/api/batches/", "/api/batches/x/cancel/", "/api", "/", "/api/nothing"])
def test_unknown_paths_and_trailing_slashes_are_not_found(server: RunningServer, path: str) -> None:
    answer = server.client.get(path)
    assert server.check_status(answer, 404)["hint"] == "GET /api/docs lists all routes."


def test_there_are_no_cors_headers(server: RunningServer) -> None:
    answer = server.client.get("/api/batches", headers={"Origin": "http://localhost:9"})
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_optional_bodies_may_be_missing(server: RunningServer) -> None:
    server.project.task("01-walls", "true")
    json_type = {"Content-Type": "application/json"}
    for headers in ({}, json_type):
        assert server.check_status(server.client.post("/api/plan", headers=headers), 200)["waves"] == [["01-walls"]]
    batch = server.run("01-walls", mode="queue")
    response = server.check_status(server.client.post(f"/api/batches/{batch}/approve", headers=json_type), 200)
    assert response["results"][0]["result"] == "granted"


@pytest.mark.parametrize("headers", [{}, {"Content-Type": "application/x-www-form-urlencoded"}])
def test_a_body_without_a_json_content_type_is_not_read(server: RunningServer, headers: dict[str, str]) -> None:
    response = server.check_status(
        server.client.post("/api/batches", content=b'{"taskIds": ["a"]}', headers=headers), 422
    )
    assert response["error"] == "the body must be JSON, sent with Content-Type: application/json"
    assert response["field"] == "body"


def test_body_errors_have_plain_messages(server: RunningServer) -> None:
    json_type = {"Content-Type": "application/json; charset=utf-8"}
    expected = {b"": "missing", b"[]": "must be a JSON object", b"{": "not valid JSON", b"null": "JSON object"}
    for body, message in expected.items():
        response = server.check_status(server.client.post("/api/bulk", content=body, headers=json_type), 422)
        assert message in response["error"]
    assert server.post("/api/bulk", {}, 422)["error"] == "action is missing"
    unknown = server.post("/api/batches", {"taskIds": ["a"], "taskId": 1}, 422)
    assert (unknown["error"], unknown["field"]) == ("taskId is not a field of this body", "taskId")
