"""A server in this process, over real HTTP: the app without its guard, on a port of its own, for a yard or an estate."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import uvicorn
from tests.support.running_server__serving import parse_sse
from tests.support.temp_project import TIMEOUT_SECONDS, TempProject
from tests.support.temp_project__surroundings import use_environment

from plait.git.location import find_repo
from plait.server.http.app import create_app
from plait.server.project_store import ProjectStore
from plait.server.session_pool import SessionPool
from plait.server.session_pool__visits import RequestScopeMiddleware

# What the server says is JSON, and a test looks into it as it likes.
Json = Any


@dataclass
class RunningServer:
    """`client` knows the server's address; no token is needed, as nobody stands at the door."""

    project: TempProject
    url: str
    client: httpx.Client

    def get(self, path: str, status: int = 200, **query: object) -> Json:
        return self.check_status(self.client.get(path, params=_query_params(query)), status)

    def post(self, path: str, body: object = None, status: int = 200, **headers: str) -> Json:
        return self.check_status(self.client.post(path, json=body, headers=headers), status)

    def patch(self, path: str, body: object, status: int = 200) -> Json:
        return self.check_status(self.client.patch(path, json=body), status)

    def check_status(self, answer: httpx.Response, status: int) -> Json:
        assert answer.status_code == status, f"{answer.status_code}: {answer.text[:2000]}"
        return answer.json() if answer.content else None

    def run(self, *tasks: str, **body: object) -> str:
        """A batch of these tasks; its id."""
        return str(self.post("/api/batches", {"taskIds": list(tasks), **body}, 201)["id"])

    def batch(self, batch: str) -> Json:
        return self.get(f"/api/batches/{batch}")

    def wait_until(self, batch: str, holds: Callable[[Json], bool]) -> Json:
        """The first BATCH of which this holds."""
        return self.project.wait_until(lambda: (told := self.batch(batch)) and holds(told) and told)

    def wait_until_finished(self, batch: str) -> Json:
        return self.wait_until(batch, lambda told: told["completedAt"] is not None)

    def wait_for_task(self, batch: str, task: str, *statuses: str) -> Json:
        """The first BATCH in which this task stands there."""
        return self.wait_until(batch, lambda told: _task_status(told, task) in statuses)

    def statuses(self, batch: str) -> dict[str, str]:
        return {task["taskId"]: task["status"] for task in self.batch(batch)["tasks"]}

    @contextmanager
    def stream_events(self, *, last: str | None = None, **query: object) -> Iterator[Iterator[Json]]:
        """Events as they come: each with its `id` and its data."""
        headers = {} if last is None else {"Last-Event-ID": last}
        with self.client.stream("GET", "/api/events", params=_query_params(query), headers=headers) as answer:
            assert answer.status_code == 200, answer.status_code
            yield parse_events(answer.iter_lines())


def parse_events(lines: Iterator[str]) -> Iterator[Json]:
    """An event without data says only how far one has heard."""
    for block in parse_sse(lines):
        if "data" in block:
            yield {"id": block.get("id"), **json.loads(block["data"])}


def quote_task_id(task: str) -> str:
    """A task's id in a path. Clients take `..` out of addresses, unless it is escaped."""
    return quote(task, safe="").replace(".", "%2E")


def _task_status(told: Json, task: str) -> str:
    return next((str(each["status"]) for each in told["tasks"] if each["taskId"] == task), "")


def _query_params(query: dict[str, object]) -> dict[str, str]:
    """`from` is a word of Python's: `from_`."""
    return {name.rstrip("_"): str(value) for name, value in query.items()}


@contextmanager
def running_server(yard: TempProject, register: Path) -> Iterator[RunningServer]:
    """This process has the yard's environment meanwhile, so that what it starts belongs to the yard."""
    with use_environment(yard.env), _server(yard, register) as url:  # noqa: SIM117 - the client goes first
        with httpx.Client(base_url=url, timeout=TIMEOUT_SECONDS, trust_env=False) as client:
            yield RunningServer(yard, url, client)


@contextmanager
def _server(yard: TempProject, register: Path) -> Iterator[str]:
    serving = _ServerThread(yard, register)
    thread = threading.Thread(target=serving.run, name="served")
    thread.start()
    try:
        assert serving.started.wait(TIMEOUT_SECONDS), "the server does not start"
        yield serving.url
    finally:
        serving.stop()
        thread.join(TIMEOUT_SECONDS)


class _ServerThread:
    def __init__(self, yard: TempProject, register: Path) -> None:
        self._yard, self._register = yard, register
        self.started = threading.Event()
        self._server: _Server | None = None

    def run(self) -> None:
        asyncio.run(self._serve())

    def stop(self) -> None:
        if self._server is not None:
            self._server.should_exit = True

    @property
    def url(self) -> str:
        assert self._server is not None
        return f"http://127.0.0.1:{self._server.servers[0].sockets[0].getsockname()[1]}"

    async def _serve(self) -> None:
        offices = SessionPool(ProjectStore(self._register), find_repo(self._yard.top))
        app = RequestScopeMiddleware(create_app(offices), offices.open_scope)
        config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", timeout_graceful_shutdown=5)
        self._server = _Server(config)
        self._server.ready, self._server.leaving = self.started.set, offices.begin_shutdown
        try:
            await self._server.serve()
        finally:
            await offices.close()


class _Server(uvicorn.Server):
    ready: Callable[[], None]
    leaving: Callable[[], None]

    async def startup(self, sockets: list[Any] | None = None) -> None:
        await super().startup(sockets)
        self.ready()

    async def shutdown(self, sockets: list[Any] | None = None) -> None:
        self.leaving()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """They are the test's."""
        yield
