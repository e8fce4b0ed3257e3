"""The server against its own OpenAPI document, with generated requests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx

from tests.support.running_server import ServerProcess, start_server
from tests.support.temp_project import TempProject
from tests.support.waiting import wait_until

LONG = bool(os.environ.get("PLAIT_CONTRACT_LONG"))
EXAMPLES = 100 if LONG else 4  # for each operation
PHASES = "examples,coverage,fuzzing,stateful" if LONG else "coverage"
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "response_headers_conformance",
    "missing_required_header",
    "ignored_auth",
    "unsupported_method",
)
ENDLESS = "/api/events"  # a stream has no end to wait for: tests of its own speak of it
OPEN = {"/health", "/login", "/logout"}


def with_work(project: TempProject) -> ServerProcess:
    """Some tasks are done, one failed, one runs on, some were never run."""
    project.task("done", "echo fine")
    project.task("failed", "exit 3", retries=0)
    project.task("going", "until [ -e go ]; do sleep 0.1; done")
    project.task("left", "true")
    server = start_server(project)
    server.post("/api/batches", {"taskIds": ["done", "failed"]})
    wait_until(lambda: project.statuses() == {"done": "done", "failed": "failed"})
    server.post("/api/batches", {"taskIds": ["going"]})
    return server


def test_generated_requests_get_only_documented_responses(project: TempProject, tmp_path: Path) -> None:
    server = with_work(project)
    asked = subprocess.run(
        [
            *(sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/api/openapi.json"),
            *("--header", f"Authorization: Bearer {server.token}", "--exclude-path", ENDLESS),
            *("--phases", PHASES, "--max-examples", str(EXAMPLES), "--checks", ",".join(CHECKS)),
            *("--request-timeout", "60", "--continue-on-failure", "--no-color", "--no-shrink"),
            *("--generation-database", "none", "--suppress-health-check", "all"),
            *(() if LONG else ("--seed", "1")),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert asked.returncode == 0, f"{asked.stdout[-20_000:]}\n{asked.stderr[-2_000:]}"
    assert " passed\n" in asked.stdout
    assert server.get("/health")["status"] == "ok"
    project.write("go", "")
    assert server.end() == 0


def test_every_route_but_health_needs_a_token(project: TempProject) -> None:
    server = start_server(project)
    described = server.get("/api/openapi.json")["paths"]
    addresses = {(method.upper(), path) for path, methods in described.items() for method in methods}
    assert len(addresses) > 30
    others = {("GET", path) for path in ("/", "/api/openapi.json", "/api/docs", "/metrics", "/nowhere")}
    with server.client() as stranger:
        answers = {
            (method, path): _status(stranger, method, path.replace("{", "").replace("}", ""))
            for method, path in sorted(addresses | others)
            if path not in OPEN
        }
    assert set(answers.values()) == {401}, answers


def _status(client: httpx.Client, method: str, path: str) -> int:
    with client.stream(method, path, json={} if method in {"POST", "PATCH"} else None) as answer:
        return answer.status_code
