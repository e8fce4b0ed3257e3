"""Servers for tests: `plait serve` as a process, or the app in a thread of this process; and clients that read events."""

from __future__ import annotations

import json
import os
import shutil
import signal
import ssl
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition, Thread
from typing import Any
from urllib.parse import quote

import httpx
import uvicorn

from plait.client.event_stream import EventStream
from plait.core.events import Record
from plait.server.auth import create_authenticator, make_login_link
from plait.server.event_buffer import EventCursor, encode_events
from plait.server.http.app import create_app
from plait.server.http.middleware.request_checks import create_policy
from plait.server.http.middleware.shutdown import RequestScopeMiddleware
from plait.server.projects import ProjectStore, open_project_store
from plait.server.serve import bind_listener, create_config
from plait.server.session_pool import SessionPool
from tests.support.fork_server import forked_engines
from tests.support.temp_project import TempProject, use_environment
from tests.support.waiting import TIMEOUT_SECONDS, wait_until

_RECONNECT_SECONDS = 0.02


@dataclass(kw_only=True)
class ServerAccess:
    """How to reach a server. `link` logs a browser in, once; `certificate` is trusted besides those of the system."""

    url: str
    link: str
    token: str
    certificate: str | None = None

    def request(self, method: str, path: str, body: object = None, **headers: str) -> httpx.Response:
        told = {"Authorization": f"Bearer {self.token}", **headers}
        with self.client() as client:
            return client.request(method, path, json=body, headers=told)

    def client(self) -> httpx.Client:
        """A client that sends no token."""
        trusted = ssl.create_default_context(cafile=self.certificate) if self.certificate else True
        return httpx.Client(base_url=self.url, timeout=TIMEOUT_SECONDS, trust_env=False, verify=trusted)

    def get(self, path: str) -> Any:  # Any: what was answered
        return self.request("GET", path).raise_for_status().json()

    def post(self, path: str, body: object = None) -> Any:  # Any: what was answered
        return self.request("POST", path, body).raise_for_status().json()


@dataclass(kw_only=True)
class ServerProcess(ServerAccess):
    """`plait serve`."""

    process: subprocess.Popen[str]
    pid: int

    def kill(self) -> None:
        """As the kernel does when memory runs out."""
        os.kill(self.pid, signal.SIGKILL)
        self.process.wait(TIMEOUT_SECONDS)

    def end(self, number: int = signal.SIGTERM) -> int:
        """Send a signal and wait for the exit code."""
        os.kill(self.pid, number)
        return self.process.wait(TIMEOUT_SECONDS)


def start_server(
    project: TempProject, *words: str, port: int = 0, token: str = "", env: Mapping[str, str] | None = None
) -> ServerProcess:
    """Start `plait serve` and wait until it answers."""
    front = project.start("serve", "--json", "--port", str(port), *words, env=env)
    assert front.stdout is not None
    line = front.stdout.readline()
    if not line:
        raise AssertionError(f"the server did not start: {project.finish(front).err}")
    told = json.loads(line)
    return ServerProcess(
        url=told["url"], link=told["link"], token=token or read_token(project), process=front, pid=told["pid"]
    )


def read_token(project: TempProject) -> str:
    """The token that the server of this user has created."""
    return (Path(project.env["XDG_STATE_HOME"]) / "plait" / "token").read_text().strip()


@dataclass
class ReceivedEvent:
    """`id` is empty for events that are not in the journal."""

    id: str
    type: str
    data: dict[str, Any] = field(default_factory=dict)  # Any: what the event tells


class EventFollower:
    """A client of `/api/events` that reconnects by itself, as browsers do, and ignores incomplete events."""

    def __init__(self, url: str, token: str, path: str = "/api/events") -> None:
        self.events: list[ReceivedEvent] = []
        self.connections = 0
        self._url, self._token = f"{url}{path}", token
        self._last = ""
        self._changed = Condition()
        self._closed = False
        self._thread = Thread(target=self._follow, daemon=True)
        self._thread.start()

    def wait_until(self, what: Callable[[], object]) -> None:
        with self._changed:
            if not self._changed.wait_for(lambda: bool(what()), TIMEOUT_SECONDS):
                types = [each.type for each in self.events]
                raise TimeoutError(f"waited {TIMEOUT_SECONDS:.0f} s; received {types}")

    def wait_for_event(self, kind: str, task: str | None = None) -> None:
        self.wait_until(lambda: self.has_event(kind, task))

    def has_event(self, kind: str, task: str | None = None) -> bool:
        return any(each.type == kind and (task is None or each.data.get("taskId") == task) for each in self.events)

    def close(self) -> None:
        self._closed = True

    def _follow(self) -> None:
        while not self._closed:
            try:
                self._connected()
            except httpx.HTTPError:
                with self._changed:
                    self._changed.wait(_RECONNECT_SECONDS)

    def _connected(self) -> None:
        headers = {"Authorization": f"Bearer {self._token}"}
        if self._last:
            headers["Last-Event-ID"] = self._last
        with httpx.stream("GET", self._url, headers=headers, timeout=TIMEOUT_SECONDS, trust_env=False) as answer:
            answer.raise_for_status()
            with self._changed:
                self.connections += 1
                self._changed.notify_all()
            for block in parse_sse(answer.iter_lines()):
                self._take(block)
                if self._closed:
                    return

    def _take(self, block: dict[str, str]) -> None:
        """As a browser does: an event counts when it is complete and has data."""
        with self._changed:
            self._last = block.get("id", self._last)
            if "data" in block:
                self.events.append(
                    ReceivedEvent(block.get("id", ""), block.get("event", ""), json.loads(block["data"]))
                )
            self._changed.notify_all()


def parse_sse(lines: Iterator[str]) -> Iterator[dict[str, str]]:
    """The fields of each event by name; comments have an empty name."""
    block: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(":")
            block[name] = value.removeprefix(" ")
        else:
            yield block
            block = {}


# Any: tests read any field of a response.
Json = Any


@dataclass
class RunningServer:
    """A server in this process. It needs no token."""

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
        """Start a batch of these tasks; its id."""
        return str(self.post("/api/batches", {"taskIds": list(tasks), **body}, 201)["id"])

    def batch(self, batch: str) -> Json:
        return self.get(f"/api/batches/{batch}")

    def wait_until(self, batch: str, holds: Callable[[Json], bool]) -> Json:
        """The batch, as soon as this holds."""
        return wait_until(lambda: (told := self.batch(batch)) and holds(told) and told)

    def wait_until_finished(self, batch: str) -> Json:
        return self.wait_until(batch, lambda told: told["completedAt"] is not None)

    def wait_for_task(self, batch: str, task: str, *statuses: str) -> Json:
        """The batch, as soon as the task has one of these statuses."""
        return self.wait_until(batch, lambda told: _task_status(told, task) in statuses)

    def statuses(self, batch: str) -> dict[str, str]:
        return {task["taskId"]: task["status"] for task in self.batch(batch)["tasks"]}

    def batch_ids(self) -> list[str]:
        """The newest first."""
        return [batch["id"] for batch in self.get("/api/batches", tasks="false", limit=10_000)["batches"]]

    def reset(self) -> None:
        """Cancel open batches and delete all files, so that the next test can use the project."""
        for batch in self.get("/api/batches", tasks="false", limit=1, open="true")["batches"]:
            if batch["completedAt"] is None:
                self.client.post(f"/api/batches/{batch['id']}/cancel")
                self.wait_until_finished(batch["id"])
        for path in self.project.top.iterdir():
            if path.name != ".git":
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    @contextmanager
    def stream_events(self, *, last: str | None = None, **query: object) -> Iterator[Iterator[Json]]:
        """Live events, each with its `id` and its data."""
        headers = {} if last is None else {"Last-Event-ID": last}
        with self.client.stream("GET", "/api/events", params=_query_params(query), headers=headers) as answer:
            assert answer.status_code == 200, answer.status_code
            yield parse_events(answer.iter_lines())


def parse_events(lines: Iterator[str]) -> Iterator[Json]:
    """Events with data; those without one only move the cursor."""
    for block in parse_sse(lines):
        if "data" in block:
            yield {"id": block.get("id"), **json.loads(block["data"])}


def quote_task_id(task: str) -> str:
    """A task's id for a path. Clients remove `..` from URLs unless it is escaped."""
    return quote(task, safe="").replace(".", "%2E")


def _task_status(told: Json, task: str) -> str:
    return next((str(each["status"]) for each in told["tasks"] if each["taskId"] == task), "")


def _query_params(query: dict[str, object]) -> dict[str, str]:
    """`from_` stands for `from`, which is a keyword."""
    return {name.rstrip("_"): str(value) for name, value in query.items()}


@contextmanager
def running_server(project: TempProject, register: Path) -> Iterator[RunningServer]:
    """As `serve_project`. This process has the project's environment, so that what it starts belongs to the project."""
    with use_environment(project.env), serve_project(project, register) as server:
        yield server


@contextmanager
def serve_project(project: TempProject, register: Path) -> Iterator[RunningServer]:
    """Serve the project from a thread of this process, over real HTTP but without authentication.

    A request runs in the environment that this process has then.
    """
    pool = SessionPool(ProjectStore(register), project.place)
    app = RequestScopeMiddleware(create_app(pool), pool.open_scope)
    config = uvicorn.Config(app, lifespan="off", log_level="error", timeout_graceful_shutdown=5)
    with _run_in_thread(config, pool) as url:  # noqa: SIM117 - the client is closed first
        with httpx.Client(base_url=url, timeout=TIMEOUT_SECONDS, trust_env=False) as client:
            yield RunningServer(project, url, client)


Serve = Callable[[], ServerAccess]


@contextmanager
def serve_page(project: TempProject) -> Iterator[ServerAccess]:
    """Serve everything that `plait serve` does, with authentication, from a thread of this process.

    This process has the project's environment, so that what it starts belongs to the project.
    """
    with use_environment(project.env):
        pool, authenticator = SessionPool(open_project_store(print), project.place), create_authenticator()
        with _run_in_thread(create_config(pool, authenticator, create_policy()), pool) as url:
            yield ServerAccess(url=url, link=make_login_link(authenticator, url), token=read_token(project))


@contextmanager
def _run_in_thread(config: uvicorn.Config, pool: SessionPool) -> Iterator[str]:
    server = _Server(config, pool)
    with closing(bind_listener("127.0.0.1", 0)) as listener, forked_engines():
        thread = Thread(target=server.run, kwargs={"sockets": [listener]}, name="server")
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(TIMEOUT_SECONDS)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, pool: SessionPool) -> None:
        super().__init__(config)
        self._pool = pool

    async def shutdown(self, sockets: list[Any] | None = None) -> None:
        self._pool.begin_shutdown()
        await super().shutdown(sockets)
        await self._pool.close()


@dataclass
class SseReader:
    """Collects complete events, without agent output."""

    last_event_id: str = ""
    events: list[bytes] = field(default_factory=list)
    _partial: bytes = b""

    def feed(self, data: bytes) -> None:
        *whole, self._partial = (self._partial + data).split(b"\n\n")
        for frame in whole:
            fields = dict(line.split(b": ", 1) for line in frame.split(b"\n") if b": " in line)
            self.last_event_id = fields.get(b"id", self.last_event_id.encode()).decode()
            if b"data" in fields and b"execution:log" not in fields[b"event"]:
                self.events.append(frame + b"\n\n")

    def disconnect(self) -> None:
        self._partial = b""

    @property
    def cursor(self) -> EventCursor | None:
        return EventCursor.parse(self.last_event_id)


def expected_events(journal: str, records: Sequence[Record]) -> list[bytes]:
    """All events of these records, as a reader gets them who is never disconnected."""
    feed = EventStream()
    return [piece.data for record in records for piece in encode_events(journal, record.seq, feed.apply(record))]
