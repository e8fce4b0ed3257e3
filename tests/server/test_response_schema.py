"""Responses match the OpenAPI document, for a batch with every kind of result."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import anyio
import httpx
import pytest
from fastapi import FastAPI
from pydantic import TypeAdapter

from plait.client.batch_json import Batch, Batches, Graph, TaskRuns
from plait.client.conflicts import TaskConflict
from plait.client.diff import FullDiff
from plait.client.full_explanation import Explanation
from plait.client.installed_agents import Agents
from plait.client.planning.plan_preview import PlanDetails
from plait.client.preferences import SettingsForm
from plait.client.pull_request_preview import PullRequestPreview
from plait.client.task_listing import SourceTasks, SourceTaskWithText
from plait.client.timeline import Timeline
from plait.core.errors import Bug
from plait.server.http.app import create_app
from plait.server.http.routes.projects import CallerDetails, Projects
from plait.server.http.routes.settings import Preferences
from plait.server.http.schema import Event
from tests.support.running_server import RunningServer

if TYPE_CHECKING:
    from plait.server.session_pool import SessionPool


def shapes(batch: str) -> Iterator[tuple[str, type[object]]]:
    yield "/api/batches", Batches
    yield f"/api/batches/{batch}", Batch
    yield f"/api/batches/{batch}/standing", TaskRuns
    yield f"/api/batches/{batch}/graph", Graph
    yield f"/api/batches/{batch}/timeline", Timeline
    yield f"/api/batches/{batch}/diff?format=json", FullDiff
    yield f"/api/batches/{batch}/pr", PullRequestPreview
    for task in ("01-walls", "02-roof", "03-tiles", "04-flag", "05-door"):
        yield f"/api/batches/{batch}/tasks/{task}/explain", Explanation
        yield f"/api/tasks/{task}", SourceTaskWithText
    yield "/api/tasks", SourceTasks
    yield "/api/settings", Preferences
    yield "/api/settings/schema", SettingsForm
    yield "/api/agents", Agents
    yield "/api/projects", Projects
    yield "/api/me", CallerDetails


def test_every_response_matches_its_schema(worktree_server: RunningServer) -> None:
    server = worktree_server
    worktree_server.project.write("roof.txt", "none")
    worktree_server.project.task("01-walls", "echo walls > walls.txt", touches="[walls.txt]", weight=2, priority=3)
    worktree_server.project.task("02-roof", "echo slate > roof.txt", needs="[01-walls]")
    worktree_server.project.task("03-tiles", "echo tiles > roof.txt", needs="[01-walls]")
    worktree_server.project.task("04-flag", "exit 1")
    worktree_server.project.task("05-door", "echo door > door.txt", needs="[04-flag]")
    worktree_server.project.commit_all()
    names = ["01-walls", "02-roof", "03-tiles", "04-flag", "05-door"]
    body = {"taskIds": names, "settings": {"gate": "true", "verify": "true", "retries": 1, "budget": None}}
    preview = server.client.post("/api/plan", json=body).content
    TypeAdapter(PlanDetails).validate_json(preview, strict=True, extra="forbid")
    batch = server.run(*names, settings=body["settings"])
    for path, shape in shapes(batch) if server.wait_until_finished(batch) else ():
        answer = server.client.get(path)
        assert answer.status_code == 200, (path, answer.text)
        TypeAdapter(shape).validate_json(answer.content, strict=True, extra="forbid")
    statuses = server.statuses(batch)
    assert {*statuses.values()} >= {"done", "conflicted", "failed", "blocked"}
    torn = next(task for task, status in statuses.items() if status == "conflicted")
    answer = server.client.get(f"/api/batches/{batch}/tasks/{torn}/conflict")
    assert TypeAdapter(TaskConflict).validate_json(answer.content, strict=True, extra="forbid").files
    with server.stream_events(batch=batch) as events:
        item: dict[str, Any] = {"type": ""}  # as JSON gives it
        while item["type"] != "batch:completed":
            item = next(iter(events))
            event = Event.model_validate_json(json.dumps(item | {"id": None}), strict=True)
            assert event.model_dump()["at"]
    assert (item["status"], item["progress"]["total"]) == ("partial", 5)


class Broken:
    """A session pool in which everything fails."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def list_projects(self) -> None:
        raise self._error


@pytest.mark.parametrize("error", [Bug("a secret of ours"), RuntimeError("a secret of ours")])
def test_a_bug_is_a_500_without_details(error: Exception, capfd: pytest.CaptureFixture[str]) -> None:
    pool: SessionPool = Broken(error)  # type: ignore[assignment]
    answer = anyio.run(_asked, create_app(pool))
    assert answer.status_code == 500
    result = answer.json()
    assert {*result} == {"error", "hint", "field", "state", "problems"}
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text
    if isinstance(error, Bug):
        assert "a secret of ours" in capfd.readouterr().err


async def _asked(app: FastAPI) -> httpx.Response:
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://plait") as client:
        return await client.get("/api/projects")
